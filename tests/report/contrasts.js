() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => rgba(color).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const paper = getComputedStyle(e).backgroundColor;
      if (rgba(paper)[3] === 255) return paper;
    }
    return "white";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("title, desc")) continue;
    const style = getComputedStyle(element);
    found.push([ratio(element.closest("svg") ? style.fill : style.color, behind(element)), element.tagName]);
  }
  const bars = [...document.querySelectorAll("svg .after, svg .before")]
    .map((e) => ratio(getComputedStyle(e).fill, behind(e)));
  return { text: Math.min(...found.map(([r]) => r)), bars: Math.min(...bars), texts: found.length };
}
