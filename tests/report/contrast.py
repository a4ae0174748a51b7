"""How well one colour is seen on another."""


def contrast(first: str, second: str) -> float:
    """The contrast of two colours by WCAG 2: (L1 + 0.05) / (L2 + 0.05)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(value: str) -> float:
    channels = [int(value[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
