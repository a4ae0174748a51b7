"""Options that several use cases of text take: what is handed to them, each stated once."""

from __future__ import annotations

from typing import Annotated

from voile.options import Data, Option

TextColumn = Annotated[str, Option("The column that holds the text.", shown=True)]
Texts = Annotated[Data, Option("CSV, JSONL, Parquet or text; .gz allowed.", reads="private")]
Original = Annotated[Data, Option("The texts before their release.", reads="private")]
Released = Annotated[Data, Option("The texts that were released.", reads="private")]
Promised = Annotated[
    Data, Option("The guarantee file; default: the one beside FILE.", reads="public")
]
VectorFile = Annotated[
    str | None, Option("The file of vectors, if the words were drawn from one.", shown=True)
]
NamePipeline = Annotated[str | None, Option("A spaCy pipeline for names.", "Names")]
