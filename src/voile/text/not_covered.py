"""What lies outside the guarantee of a released text, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.text.languages import AUTO, stopwords_in
from voile.text.released import Unknown
from voile.text.signs import Signs
from voile.text.standins import NOT_FOUND, SHOWS

if TYPE_CHECKING:
    from voile.text.word_protector import TextProtector


def not_covered(protector: TextProtector) -> tuple[str, ...]:
    """What a protector's settings put outside its guarantee; in capitals what stands in clear."""
    notes = ["the number of words, spacing, punctuation, casing and bare lay-out tags (<br />)"]
    if protector.signs is Signs.KEEP:
        notes.append("SIGNS AT WORDS (HIV+, O-): THEY ARE RELEASED IN CLEAR")
    else:
        notes[0] += (
            "; but signs at words (HIV+, O-) are left out, plus and minus wherever they stand, "
            "while arrows and < > that stand alone remain in clear"
        )
    if protector.stand_ins is not None:
        notes += [SHOWS, NOT_FOUND]
        if all(law is None for law in protector.laws):
            notes.append("ALL OTHER WORDS: THEY ARE RELEASED IN CLEAR")
    elif protector.identifiers:
        notes.append("that an identifier of some type stood where a placeholder stands")
    if protector.unknown is Unknown.KEEP:
        notes.append("WORDS OUTSIDE THE VOCABULARY: THEY ARE RELEASED IN CLEAR")
    if protector.unknown is Unknown.DROP:
        notes.append("words outside the vocabulary: they are dropped, which shows in the gaps")
    if protector.keep_stopwords:
        notes.append(
            f"{len(stopwords_in(protector.reading.chosen))} STOP WORDS: THEY ARE RELEASED IN CLEAR"
        )
    if protector.reading.chosen == AUTO:
        notes.append(
            "which language a row was read in, as detected: it decides which words count as names "
            "and as stop words"
        )
    if protector.tiers is not None:
        notes.append("which tier a word belongs to: the bound holds between words of one tier")
        clear = [
            n for n, law in zip(protector.tiers.names, protector.laws, strict=True) if law is None
        ]
        notes += [f"THE TIER {name.upper()}: IT IS RELEASED IN CLEAR" for name in clear]
    if protector.vocabulary.private:
        notes.append("WHICH WORDS OCCUR: THE VOCABULARY WAS TAKEN FROM THE PRIVATE TEXT")
    if protector.law_of_length is not None:
        words = "words" if protector.consistent is None else "distinct words"
        notes.append(f"each document's exact length in {words}, stated as public")
    if protector.consistent is not None:
        notes.append(protector.consistent.shows)
    return tuple(notes)
