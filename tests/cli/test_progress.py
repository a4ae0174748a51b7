"""What is going on is said where there is no terminal too, and a quick command says nothing."""

import time

from voile.cli import showing
from voile.progress import say, tell, tell_nothing


def test_a_log_hears_what_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(showing, "EVERY", 0.01)
    with showing.heard(quiet=False):
        tell("embedding attack on releases", done=400, total=1000)
        for _ in range(3000):
            said = capsys.readouterr()
            if "embedding attack on releases: 400 of 1,000 (" in said.err:
                break
            time.sleep(0.01)
        else:
            raise AssertionError("nothing was said in half a minute")
    assert said.out == ""


def test_a_quick_command_and_a_quiet_one_leave_no_line(capsys, monkeypatch):
    with showing.heard(quiet=False):
        tell("soon done")
    monkeypatch.setattr(showing, "EVERY", 0.001)
    with showing.heard(quiet=True):
        tell("nobody asked")
        say("nor for this")
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_a_program_that_waits_to_be_asked_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr(showing, "EVERY", 0.001)
    with showing.heard(quiet=False):
        tell_nothing()
        capsys.readouterr()
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_what_is_said_to_stay_stays(capsys):
    with showing.heard(quiet=False):
        say("▸ the first step")
    assert capsys.readouterr().out == "▸ the first step\n"
