from voile.places._audit import audit as audit
from voile.places._design import design as design
from voile.places._export import export as export
from voile.places._follow import follow as follow
from voile.places._protect import protect as protect
from voile.places._show import show as show
from voile.places.designs import PlacesDesign as PlacesDesign
from voile.places.outside import Outside as Outside
