() => {
  // What is wrong with how a page is laid out, as sentences.
  const wrong = [];
  const say = (what, node) => wrong.push(`${what}: ${node.textContent.trim().slice(0, 60)}`);
  if (document.documentElement.scrollWidth > innerWidth) {
    wrong.push(`the page is scrolled sideways: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  }
  for (const drawing of document.querySelectorAll("svg")) {
    const frame = drawing.getBoundingClientRect();
    const scale = drawing.getScreenCTM() ? drawing.getScreenCTM().a : 1;
    const texts = Array.from(drawing.querySelectorAll("text"), (text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], index) => {
      if (parseFloat(getComputedStyle(text).fontSize) * scale * 0.75 < 6.95) say("text is small", text);
      if (box.left < frame.left - 1 || box.right > frame.right + 1) say("text leaves its drawing", text);
      if (box.top < frame.top - 1 || box.bottom > frame.bottom + 1) say("text leaves its drawing", text);
      for (const [other, at] of texts.slice(index + 1)) {
        const across = Math.min(box.right, at.right) - Math.max(box.left, at.left);
        const along = Math.min(box.bottom, at.bottom) - Math.max(box.top, at.top);
        if (across > 2 && along > 2) say(`text lies over "${other.textContent}"`, text);
      }
    });
  }
  // Texts of the page stay in what they are written into, and boxes that scroll in the page.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const part = text.parentElement;
    if (!text.data.trim() || part.closest("svg, script") || !part.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const cell = part.closest("td, th, .box") || document.documentElement;
    const held = cell.getBoundingClientRect();
    for (const line of range.getClientRects()) {
      const inside = cell.matches(".box") ? held.left + cell.scrollWidth : held.right;
      if (line.width && (line.right > inside + 1 || line.left < held.left - cell.scrollLeft - 1)) {
        say(`text leaves its ${cell.tagName}`, part);
        break;
      }
    }
  }
  for (const box of document.querySelectorAll(".box")) {
    const held = box.getBoundingClientRect();
    if (held.right > innerWidth + 1) say("a box leaves the page", box);
    if (box.scrollWidth > box.clientWidth + 1 && box.tabIndex !== 0) say("a box is not scrolled by keyboard", box);
  }
  return wrong;
}
