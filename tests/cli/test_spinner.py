"""What is going on is said where there is no terminal too, and a quick command says nothing."""

import time

from voile.cli.show import spinner


def test_a_log_hears_what_goes_on(capsys):
    with spinner(True, every=0.01) as say:
        say("embedding attack on 400 releases")
        for _ in range(3000):
            if "embedding attack on 400 releases (" in (heard := capsys.readouterr()).err:
                break
            time.sleep(0.01)
        else:
            raise AssertionError("nothing was said in half a minute")
    assert heard.out == ""


def test_a_quick_command_and_a_quiet_one_leave_no_line(capsys):
    with spinner(True, every=3600.0) as say:
        say("soon done")
    with spinner(False, every=0.001) as say:
        say("nobody asked")
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")
