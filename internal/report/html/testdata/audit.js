// What the browser test asks a page for. Every function returns a list of
// complaints, empty where all is well.
({
  structure(words = 'The picture as a table') {
    const out = [];
    if (!document.title) out.push('no title');
    if (!document.documentElement.lang) out.push('no language');
    const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1]);
    if (levels.filter(l => l === 1).length !== 1 || levels[0] !== 1) out.push('headings begin with ' + levels.slice(0, 3));
    levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) out.push('a heading of level ' + l + ' below one of ' + levels[i - 1]); });
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    if (new Set(ids).size !== ids.length) out.push('two things of one id');
    for (const e of document.querySelectorAll('[aria-labelledby]')) {
      if (!document.getElementById(e.getAttribute('aria-labelledby'))) out.push('named by nothing: ' + e.outerHTML.slice(0, 80));
    }
    const table = [...document.querySelectorAll('table')].find(t => t.closest('[aria-label="' + words + '"]'));
    if (!table || table.tBodies[0].rows.length < 2 || table.tHead.rows[0].cells.length < 8) out.push('no table says what the picture says');
    return out;
  },

  // Whose a failure is, is told by shape and in words, not by colour alone.
  colour() {
    const out = [], shapes = {};
    for (const row of document.querySelectorAll('#failures tbody tr')) {
      const cell = row.querySelector('.whose'), words = cell.textContent.trim();
      if (!words) out.push('a failure without an owner in words');
      shapes[words] = cell.querySelector('use').getAttribute('href');
    }
    if (new Set(Object.values(shapes)).size !== Object.keys(shapes).length) out.push('two owners of one shape: ' + JSON.stringify(shapes));
    const legend = document.querySelector('.legend');
    for (const use of document.querySelectorAll('#picture [role=listbox][aria-label^=Failures] use')) {
      if (!legend.querySelector('use[href="' + use.getAttribute('href') + '"]')) out.push('a mark that the legend does not explain: ' + use.getAttribute('href'));
    }
    for (const path of document.querySelectorAll('#picture path.old, #picture path.new, #picture path.other')) {
      if (!legend.querySelector('.' + path.getAttribute('class'))) out.push('an area that the legend does not explain: ' + path.getAttribute('class'));
    }
    return [...new Set(out)];
  },

  // Nothing sticks out, and no two labels of the picture overlap.
  layout() {
    const out = [], wide = document.documentElement.clientWidth;
    if (document.scrollingElement.scrollWidth > wide) {
      const wider = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > wide + 0.5 && !e.closest('.scroll'));
      out.push('the page is ' + document.scrollingElement.scrollWidth + ' wide on a screen of ' + wide + ': ' + wider.slice(-2).map(e => e.outerHTML.slice(0, 60)).join(', '));
    }
    const labels = [...document.querySelectorAll('#picture text')].map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width);
    labels.forEach(([text, r], i) => {
      if (r.left < -0.5 || r.right > wide + 0.5) out.push('a label is cut off: ' + text);
      for (const [other, s] of labels.slice(i + 1)) {
        const x = Math.min(r.right, s.right) - Math.max(r.left, s.left), y = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
        if (x > 1 && y > 3) out.push('two labels overlap: ' + text + ' and ' + other);
      }
    });
    return out;
  },

  contrast() {
    const out = new Set(), all = new CSSStyleSheet();
    all.replaceSync('* { pointer-events: auto !important; transition: none !important; }');
    document.adoptedStyleSheets = [all];
    const parse = c => { const n = (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number); return n.length > 3 ? n : [...n, 1]; };
    const over = (top, ground) => ground.map((g, i) => i < 3 ? top[i] * top[3] + g * (1 - top[3]) : 1);
    const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const painted = e => {
      const s = getComputedStyle(e);
      if (!(e instanceof SVGElement) || e.tagName === 'svg') return parse(s.backgroundColor);
      if (e.tagName === 'text' || e.tagName === 'line' || s.fill === 'none' || s.fill.startsWith('url')) return [0, 0, 0, 0];
      const c = parse(s.fill);
      return [c[0], c[1], c[2], c[3] * s.fillOpacity * s.opacity];
    };
    const beneath = (e, x, y) => {
      const stack = document.elementsFromPoint(x, y), i = stack.indexOf(e);
      return i < 0 ? null : stack.slice(i + 1).reverse().reduce((ground, b) => over(painted(b), ground), [255, 255, 255, 1]);
    };
    const check = (e, at, color, least, what, own) => {
      if (!at.width || !at.height) return;
      const x = at.left + at.width / 2, y = at.top + at.height / 2;
      let ground = beneath(e, x, y);
      if (!ground) return;
      if (own) ground = over(painted(e), ground);
      const got = ratio(over(color, ground), ground);
      if (got < least - 0.005) out.add(what + ': ' + got.toFixed(2) + ' of ' + color.slice(0, 3) + ' on ' + ground.slice(0, 3).map(Math.round));
      this.checked = (this.checked || 0) + 1;
    };
    for (const d of document.querySelectorAll('details')) d.open = true;
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n; (n = texts.nextNode());) {
      const e = n.parentElement;
      if (!n.data.trim() || e.closest('script, style, option, #tip[hidden], #failures tr:nth-child(n+8), .numbers tr:nth-child(n+5)')) continue;
      const range = document.createRange();
      range.selectNodeContents(n);
      if (!range.getClientRects().length) continue;
      e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
      const s = getComputedStyle(e);
      check(e, range.getClientRects()[0], parse(e instanceof SVGElement ? s.fill : s.color), 4.5, 'text ' + JSON.stringify(n.data.trim().slice(0, 40)), !(e instanceof SVGElement));
    }
    const marks = [...document.querySelectorAll('#picture use:not(.back), #picture .bar:not(.hollow), #picture .life, #picture .window, .legend use, tr:nth-child(-n+8) .whose use')];
    for (const e of marks.filter((_, i) => i % Math.ceil(marks.length / 80) === 0)) {
      e.scrollIntoView({block: 'center', behavior: 'instant'});
      const s = getComputedStyle(e), c = s.stroke !== 'none' && s.fill === 'rgb(0, 0, 0)' ? s.stroke : s.fill;
      check(e, e.getBoundingClientRect(), parse(c), 3, 'mark ' + e.getAttribute('class'));
    }
    for (const e of document.querySelectorAll('#picture path.old, #picture path.new, #picture path.other')) {
      const c = parse(getComputedStyle(e).fill), ground = parse(getComputedStyle(document.querySelector('.ground')).fill);
      if (ratio(c, ground) < 3) out.add('area ' + e.getAttribute('class') + ': ' + ratio(c, ground).toFixed(2));
    }
    document.adoptedStyleSheets = [];
    if (!(this.checked > 60)) out.add('only ' + this.checked + ' things could be looked at');
    scrollTo(0, 0);
    return [...out];
  },

  // The thing that has the keyboard, and where it is: in the document, on the page.
  active() {
    const e = document.activeElement;
    if (!e || e === document.body) return null;
    const r = e.getBoundingClientRect(), list = e.closest('[role=listbox]');
    const all = [...document.querySelectorAll('*')];
    return {
      place: all.indexOf(e), top: r.top + scrollY, list: list ? list.getAttribute('aria-label') : '', name: e.getAttribute('aria-label') || e.textContent.trim() || e.id,
      tip: document.getElementById('tip')?.hidden === false ? document.getElementById('tip').textContent : '',
    };
  },

  // The first mark of the failures that can be seen, and its middle on the screen.
  mark() {
    for (const e of document.querySelectorAll('#picture [role=listbox][aria-label^=Failures] [role=option]')) {
      e.scrollIntoView({block: 'center', behavior: 'instant'});
      const r = e.getBoundingClientRect();
      if (r.width) return {x: r.left + r.width / 2, y: r.top + r.height / 2, name: e.getAttribute('aria-label')};
    }
    return null;
  },

  tip() { const t = document.getElementById('tip'); return t && !t.hidden ? t.textContent : ''; },

  filter(text, owner) {
    const set = (id, v) => { const e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); };
    set('filter-owner', owner);
    set('filter-text', text);
    const rows = [...document.querySelectorAll('#failures tbody tr')].filter(r => r.getBoundingClientRect().height);
    return {shown: document.getElementById('shown').textContent, rows: rows.map(r => r.cells[0].textContent), owners: [...new Set(rows.map(r => r.dataset.owner))]};
  },

  ground() { return getComputedStyle(document.documentElement).backgroundColor; },

  printed() {
    const out = [], height = q => document.querySelector(q)?.getBoundingClientRect().height || 0;
    if (height('#filter')) out.push('the filter is printed');
    if (height('.hint')) out.push('how to point is printed');
    for (const d of document.querySelectorAll('details')) if (!d.querySelector('table, dl').getBoundingClientRect().height) out.push('folded up: ' + d.textContent.trim().slice(0, 40));
    if (!height('#picture')) out.push('the picture is not printed');
    return out;
  },
})
