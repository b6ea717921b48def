"""Keyboard focus on a page, and whether it can be seen."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

_HIDDEN = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const active = document.activeElement;
  // A chip or a switch is drawn by what stands around its input.
  const shown = active.closest('.a2-chip, .a2-check, label') ?? active;
  const { top, bottom, left, right, height } = shown.getBoundingClientRect();
  const bar = document.querySelector('.b-top'), dock = document.querySelector('.b-dock');
  const inside = Boolean(active.closest('.b-thread'));
  const above = inside && bar && getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().bottom : 0;
  const below = inside && dock ? dock.getBoundingClientRect().top : innerHeight;
  const name = `${active.localName}#${active.id} ${(active.ariaLabel ?? active.textContent).trim().slice(0, 40)}`;
  if (active === document.body) return '';
  const fits = height <= below - above;
  if (fits ? top < above - 1 || bottom > below + 1 : bottom < above + 24 || top > below - 24) {
    return `${name}: ${top} to ${bottom}, in sight ${above} to ${below}`;
  }
  const y = (Math.max(top, above) + Math.min(bottom, below)) / 2;
  const hit = document.elementFromPoint((left + right) / 2, y);
  return shown.contains(hit) || hit?.contains(shown) ? '' : `${name}: behind ${hit?.className}`;
}"""


def hidden(page: Page) -> str:
    """Let the page come to rest, then say what is wrong with where the focus is; empty when it can be seen."""
    found: str = page.evaluate(_HIDDEN)
    return found


def step(page: Page, key: str = "Tab") -> str:
    """Press a key that moves the focus. Returns what `hidden` says."""
    page.keyboard.press(key)
    return hidden(page)


def tab_to(page: Page, target: Locator, key: str = "Tab", *, most: int = 120) -> None:
    """Go on with Tab (or Shift+Tab) until the target has the focus, which must be in sight at each step."""
    for _ in range(most):
        assert not (found := step(page, key)), found
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{key} does not reach {target}")
