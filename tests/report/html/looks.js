// What of a page is cut or lies over something else, as sentences. Run with the window's width.
(width) => {
  const found = [];
  const say = (what, node) => found.push(`${what}: ${(node.textContent || node.tagName).trim().replace(/\s+/g, " ").slice(0, 60)}`);
  const style = node => getComputedStyle(node);
  const isHidden = element => {
    for (let each = element; each; each = each.parentElement) {
      const look = style(each);
      if (look.visibility === "hidden" || look.display === "none" || look.clipPath === "inset(50%)") return true;
      if (each.tagName === "DETAILS" && !each.open && !element.closest("summary")) return true;
    }
    return false;
  };
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const elements = [...document.querySelectorAll("*")];
  for (const element of elements) {
    if (!(element instanceof HTMLElement) || isHidden(element)) continue;
    if (["auto", "scroll", "hidden"].includes(style(element).overflowX) && !element.closest("[tabindex='0']") && element.scrollWidth > element.clientWidth + 1) say("scrolls sideways", element);
  }
  const boxes = [];
  const walk = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || ["STYLE", "SCRIPT", "TITLE", "title", "OPTION"].includes(parent.tagName) || isHidden(parent)) continue;
    if (parent.closest("[transform*=rotate]")) continue;
    const scrolls = parent.closest(".scroll[tabindex='0']");  // tables of machine code: the keyboard reaches them
    if (scrolls && scrolls.scrollWidth > scrolls.clientWidth) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (box.left < -1 || box.right > width + 1) say("is out of sight", node);
      // Spaces at the end of a wrapped line hang over the edge.
      const right = style(parent).whiteSpace === "pre-wrap" ? Math.min(box.right, parent.getBoundingClientRect().right) : box.right;
      // A line's box is higher than its letters are.
      const slack = 0.2 * Math.min(box.width, box.height);
      boxes.push({node, left: box.left + 1, right: right - 1, top: box.top + slack, bottom: box.bottom - slack});
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  boxes.forEach((one, place) => {
    for (let next = place + 1; next < boxes.length && boxes[next].top < one.bottom; next++) {
      const other = boxes[next];
      if (one.node !== other.node && one.left < other.right && other.left < one.right) say(`"${one.node.data.trim().slice(0, 40)}" lies over`, other.node);
    }
  });
  return found;
}
