"""What a screen reader makes of a page: the accessibility tree of Chromium, and which changes would be read out.

No browser tells what is spoken. `LISTENER` goes by the rules that screen readers go by: of a change, the nearest live
region counts; one that comes together with its text says nothing, unless it is an alert; what is hidden is not read.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

LISTENER = """
window.spoken = [];
(() => {
  const REGION = '[aria-live], [role=status], [role=alert], [role=log]';
  const known = new WeakSet();
  const politeness = region =>
    region.getAttribute('aria-live') ?? (region.getAttribute('role') === 'alert' ? 'assertive' : 'polite');
  const atomic = region => /status|alert/.test(region.getAttribute('role'));
  const learn = root => {
    if (root.matches?.(REGION)) known.add(root);
    for (const region of root.querySelectorAll?.(REGION) ?? []) known.add(region);
  };
  const heard = element => !element.closest('[aria-hidden=true]') && element.checkVisibility();
  const take = records => {
    const said = new Map();
    for (const record of records) {
      const nodes = record.type === 'characterData' ? [record.target] : [...record.addedNodes];
      for (const node of nodes) {
        if (!node.isConnected || !node.textContent.trim()) continue;
        const element = node.nodeType === 1 ? node : node.parentElement, region = element.closest(REGION);
        const alerts = region?.getAttribute('role') === 'alert';
        if (!region || !(known.has(region) || alerts) || politeness(region) === 'off' || !heard(element)) continue;
        said.set(region, [...said.get(region) ?? [], node.textContent.trim()]);
      }
    }
    for (const [region, texts] of said) {
      const text = atomic(region) ? region.textContent.trim() : texts.join(' ');
      spoken.push({ how: politeness(region), text, where: region.id, surface: !!region.closest('.a2-surface') });
    }
    for (const { addedNodes } of records) addedNodes.forEach(learn);
  };
  addEventListener('DOMContentLoaded', () => {
    learn(document);
    new MutationObserver(take).observe(document, { subtree: true, childList: true, characterData: true });
  });
})();
"""


def spoken(page: Page) -> list[tuple[str, str]]:
    """(politeness, text) of what was read out of surfaces since the last call."""
    found: list[dict[str, Any]] = page.evaluate("spoken.splice(0).filter(one => one.surface)")
    return [(one["how"], one["text"]) for one in found]


def tree_node(page: Page, selector: str) -> dict[str, Any]:
    """`{role, name, description, live, hidden}` of an element in the accessibility tree, without what is not said."""
    client = page.context.new_cdp_session(page)
    root = client.send("DOM.getDocument")["root"]["nodeId"]
    node = client.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    assert node, f"there is no {selector}"
    found = client.send("Accessibility.getPartialAXTree", {"nodeId": node, "fetchRelatives": False})["nodes"][
        0
    ]
    client.detach()
    if found["ignored"]:
        reasons = {one["name"] for one in found.get("ignoredReasons", [])}
        return {"hidden": bool(reasons & {"ariaHiddenElement", "ariaHiddenSubtree"})}
    said = {
        name: found[name]["value"]
        for name in ("role", "name", "description")
        if found.get(name, {}).get("value")
    }
    live = [one["value"]["value"] for one in found.get("properties", []) if one["name"] == "live"]
    return said | ({"live": live[0]} if live else {})
