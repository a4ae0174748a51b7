from voile.service._serve import serve as serve
