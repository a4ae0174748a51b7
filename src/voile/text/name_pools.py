"""Names that stand-ins are drawn from, by language; lists of Faker, less what is a word as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module

from voile.errors import needs, require

LOCALES = {"en": "en_US", "de": "de_DE", "fr": "fr_FR", "es": "es_ES"}

WORDS_TOO = frozenset(
    """
    albino alec alma angel ante april arias august aura austin autumn ball banks barber barker
    baron bass bean beard beck beer bell bender best bigot bill bird black bond bonnet booth
    bourgeois branch brandy bravo bridges bright brown buck burns bush butler cal camps cannon
    carolina carpenter case cases chambers chan chase cherry china christian church clara clay
    cleveland colon combs company cook cord corral cousin crane cross crystal curry daisy
    dallas dawn day decker derrick destiny diamond dino don donna downs drew duke edit else
    england ethan faith farmer fields fisher flora florence flowers foley font foster fox
    frank french frost fry fuller gamble garner gates gay georgia glass golden good grace
    grant graves gray green grit gross guy hall harm hart herring hicks hill ho hodge holder
    holland hood horn house houston hull hunt hunter ireland israel jackson jesus jodi johns
    jordan joy june junk key killer king knight lam lamb lane le lincoln little london long
    lore love mallet manning mans mar marine mark marks marsh marty mas masse mate max maxim
    may mayoral meadows melody meta mike miles mills mir misty moll moody moon moss nada noble
    ole pace page pages parent paris park parks pastor peck peer penny petty pi pol polo pope
    porter potter powers price prince randy raven ray real rice rich riddle ring rivers roach
    roque rose rush rust sales sans savage sebastian sharp shepherd shields short skinner
    small snow sparks spears stark stone stout strong sue summer summers sydney theres till
    tommy torrent troy urban valentine veronica villa virginia wade walker wall walls wang
    ward warmer washington waters weeks west wheeler white will willy winters wise wolf wood
    woods young
    """.split()  # noqa: SIM905
)
"""Names that are English words or known places too: a reader, and whoever puts the names back,
would take one for the other. Found by how often each is written small in the reviews of IMDB."""

WORDS_TOO_IN = {
    "de": frozenset(
        """
        ackermann adler anders baum bauer berger bruder eimer engel ernst falk faust fischer
        fröhlich förster german graf gute hahn heide hein holt huhn kaiser klein knappe koch
        kohl kranz krebs köhler lange linke meister mercedes mühle nette putz renner richter
        ritter roman rosa römer salz sauer schacht scheibe schenk schlosser schuster schäfer
        schüler seidel silvester speer spieß steuer stolze stroh stumpf wagner weiß wende
        winkler wirth wolf zahn zimmer
        """.split()  # noqa: SIM905
    ),
    "fr": frozenset(
        """
        aimé aimée alexandrie aurore barbe barbier barre berger blanc boucher boulanger breton
        brun buisson charpentier chevalier chrétien clémence collet constance courtois fontaine
        grenier gros honoré léger lorraine maillot marchand marin maréchal meunier moulin neveu
        noël normand petit renard rivière rocher sauvage vaillant vallée victoire voisin
        """.split()  # noqa: SIM905
    ),
    "es": frozenset(
        """
        abad abril acero adoración agudo alba alcalde alegre alegria alemán amada amado amo amor
        amores américa amparo arco arcos armas arenas arroyo asunción ascensión aurora barba
        barco barranco barrera barriga barrio barrios barros barón batalla baños bello
        bienvenida bilbao blanca blanco botella bueno burgos caballero cabello cabeza cabezas
        cabañas cabo cadenas calvo calzada camino campo campos canales cantón caridad caro
        carrera carreras carro casado casas castilla castillo catalán cañas cerro checa chico
        coca comas concha conde consuelo coral cordero corona cortes cortina costa criado cruz
        cuadrado cuenca cuervo cuesta cuevas custodia cámara córdoba delgado diez dolores
        domingo dueñas dulce duque emperatriz encarnación españa español esmeralda espada espejo
        esperanza estrella evita felicidad flor flores franco frutos fuente fuentes fuertes
        galán gallego gallo gloria gracia grande guardia guerra guerrero herrero hidalgo hierro
        huerta hurtado iglesia iglesias infante inmaculada izquierdo jurado lago laguna leal
        llamas llano llanos lobo luna luz madrid maestre malo mariscal mármol martirio mata
        matas marqués mayo mesa milagros modesta modesto montaña montes morena moreno murcia
        muro máxima máximo naranjo navas nieto nieves niño oliva olivares pacífica palacio
        palacios palma paloma pardo pareja parejo paredes paz peinado pera perla peña peñas
        piedad pilar pino pintor piña plana plaza portero posada pozo prado primitiva primitivo
        prieto puente puerta pulido redondo reina remedios rey reyes ribera rico rincón rivera
        robles roca roma rosa rosado rosario rubio rueda río ríos sala salamanca salas salud
        salvador santiago santos sastre seco segura sevilla severo sierra silva silvestre
        sobrino socorro sol sola soledad soto tapia tirado toledo toro torre torres trinidad
        urbano valencia valenciano valle vara vasco verdugo victoria villa violeta vives viña
        zamora zaragoza áfrica águila
        """.split()  # noqa: SIM905
    ),
}
"""The same in other languages, among names that are often written there: chosen by hand."""

TOWN_ENDINGS = {
    "en": ("berg", "borough", "bury", "fort", "furt", "haven", "mouth", "shire", "stad", "ton"),
    "de": ("berg", "burg", "dorf", "feld", "hausen", "heim", "ingen", "rode", "stadt", "tal"),
    "fr": ("bourg", "court", "mont", "vic", "ville", "villiers"),
    "es": ("briga", "celos", "eda", "illa", "mira", "osa", "uela"),
}
COMPANY_ENDINGS = {
    "en": ("Group", "Ltd", "Partners", "Works"),
    "de": ("AG", "Gesellschaft", "GmbH", "Werke"),
    "fr": ("Associés", "Groupe", "SA", "SARL"),
    "es": ("Asociados", "Grupo", "SA", "SL"),
}
"""What the stand-ins of towns and companies end in, by language."""


def words_too(language: str) -> frozenset[str]:
    """Names that are words of English, or of this language, as well."""
    return WORDS_TOO | WORDS_TOO_IN.get(language, frozenset())


@dataclass(frozen=True)
class NamePools:
    """First names of women and of men, and last names, as a language has them."""

    language: str
    female: tuple[str, ...]
    male: tuple[str, ...]
    last: tuple[str, ...]

    @property
    def towns(self) -> tuple[str, ...]:
        """What towns end in."""
        return TOWN_ENDINGS[self.language]

    @property
    def companies(self) -> tuple[str, ...]:
        """What companies are called after a name."""
        return COMPANY_ENDINGS[self.language]

    @cached_property
    def _lists(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(map(str.casefold, names)) for names in (self.female, self.male))

    def role(self, name: str) -> str:
        """What a name is by the lists: a first name of women, of men, of both, or a last name.

        >>> pools = name_pools("en")
        >>> [pools.role(name) for name in ("Mary", "James", "Okonkwo")]
        ['female', 'male', 'last']
        """
        women, men = (name.casefold() in names for names in self._lists)
        return "first" if women and men else "female" if women else "male" if men else "last"

    def pool(self, role: str) -> tuple[str, ...]:
        """The names that may stand in for one of this role."""
        if role == "first":
            return tuple(dict.fromkeys((*self.female, *self.male)))
        return {"female": self.female, "male": self.male, "last": self.last}[role]


@lru_cache(maxsize=8)
def name_pools(language: str = "en") -> NamePools:
    """The names of a language."""
    require(language in LOCALES, "the language of stand-ins", " or ".join(LOCALES), language)
    with needs("faker", extra="pseudonyms"):
        lists = import_module(f"faker.providers.person.{LOCALES[language]}").Provider

    words = {word.casefold() for word in words_too(language)}

    def usable(names: object) -> tuple[str, ...]:
        plain = dict.fromkeys(str(n) for n in names if str(n).isalpha())  # type: ignore[attr-defined]
        return tuple(n for n in plain if len(n) > 2 and n.casefold() not in words)

    first = (usable(lists.first_names_female), usable(lists.first_names_male))
    taken = {name for names in first for name in names}
    last = tuple(name for name in usable(lists.last_names) if name not in taken)
    return NamePools(language, *first, last)
