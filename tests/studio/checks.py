"""What a person with a screen reader, weak eyes or a small screen needs of a page."""

from __future__ import annotations

UNNAMED = """
[...document.querySelectorAll("a, button, input, select, [role=button], iframe, svg[role=img]")]
  .filter((e) => e.getClientRects().length)
  .filter((e) => !((e.getAttribute("aria-label") ?? "").trim() || e.labels?.[0]?.textContent.trim()
    || e.textContent.trim() && e.tagName !== "SELECT" || e.title))
  .map((e) => e.outerHTML.slice(0, 120))
"""
"""Controls that a screen reader would call nothing."""

FAINT = """
(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = rgb(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const e of document.querySelectorAll("main *, header *, footer *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest("svg, :disabled, option")) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => x - y);
    const contrast = (b + 0.05) / (a + 0.05);
    if (contrast < 4.5) faint.add(`${e.tagName}.${e.className} ${contrast.toFixed(2)}`);
  }
  return [...faint];
})()
"""
"""Texts whose contrast with what is behind them is below 4.5 (WCAG 2, AA)."""

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def looked_over(browser, port):
    """Nothing went wrong, nothing was asked of others, and everybody can use what is there."""
    assert not browser.problems, browser.problems
    beyond = [
        url
        for url in browser.requests
        if not url.startswith((f"http://127.0.0.1:{port}/", "data:", "blob:"))
    ]
    assert not beyond, beyond
    assert browser.ask("document.querySelectorAll('h1').length") == 1
    assert browser.ask(UNNAMED) == []
    for dark in (False, True):
        for width in (1280, 390):
            browser.look(width=width, dark=dark)
            faint = browser.ask(FAINT)
            assert not faint, (dark, faint)
            assert browser.ask(WIDER) <= 0, f"wider than a screen of {width}"
    browser.look(width=1280)
