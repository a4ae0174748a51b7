"""What the screens remember belongs to one file and to one way to look at it."""

import pytest

from voile.studio.asking import Look, PlacesLook
from voile.studio.desk import Desk
from voile.studio.places_screen import PlacesScreen
from voile.studio.text_screen import TextScreen


@pytest.mark.parametrize(
    ("screen", "opens", "asked"),
    [
        (TextScreen, "text_screen.open_bench", Look(column="text")),
        (PlacesScreen, "places_screen.open_places", PlacesLook(lat="lat", lon="lon")),
    ],
)
def test_a_file_opened_while_another_is_read_is_not_taken_for_it(
    tmp_path, monkeypatch, screen, opens, asked
):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    for path in (first, second):
        path.write_text("text,lat,lon\nhello there,1,2\n", encoding="utf-8")
    desk = Desk()

    def slow(path, *_, **__):
        if path == str(first):
            desk.open_path(str(second))
        return path

    monkeypatch.setattr(f"voile.studio.{opens}", slow)
    desk.open_path(str(first))
    bench = screen(desk)._bench
    assert bench(asked) == str(first)
    assert bench(asked) == str(second)
    desk.leave()


def test_curves_with_stop_words_in_clear_are_not_those_without(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("text\nplease tell me about the train to oslo\n", encoding="utf-8")
    desk = Desk()
    desk.open_path(str(path))
    text = TextScreen(desk)
    found = []
    for keep in (False, True):
        bench = text._bench(Look(column="text", keep_stopwords=keep))
        found.append(text._once("share", bench, lambda bench=bench: bench.clear_share))
    assert found[0] == 0 < found[1]
    desk.leave()
