'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const picture = $('picture'), tip = $('tip'), cross = $('cross');

  // What is shown of a thing in the picture is its accessible name.
  let shown = null;
  function show(thing) {
    shown = thing;
    tip.textContent = thing.getAttribute('aria-label');
    tip.hidden = false;
    cross.classList.add('on');
    place();
  }

  // Outside of the thing's row, so that none of its neighbours is covered, and
  // within the screen.
  function place() {
    if (!shown) return;
    const at = shown.getBoundingClientRect(), frame = picture.getBoundingClientRect();
    const middle = Math.min(Math.max(at.left + at.width / 2, frame.left), frame.right);
    cross.setAttribute('x1', middle - frame.left);
    cross.setAttribute('x2', middle - frame.left);
    const room = document.documentElement.clientWidth, w = tip.offsetWidth, h = tip.offsetHeight;
    const row = shown.parentNode.getBoundingClientRect();
    let left = middle - w / 2, top = row.top - h - 10;
    if (at.height > 100) { // as high as the picture: there is room beside it alone
      left = middle + 14 + w < room ? middle + 14 : middle - w - 14;
      top = frame.top;
    } else if (top < 8) {
      top = row.bottom + 10;
    }
    tip.style.left = Math.max(8, Math.min(left, room - w - 8)) + 'px';
    tip.style.top = Math.max(8, Math.min(top, innerHeight - h - 8)) + 'px';
  }

  function hide() {
    shown = null;
    tip.hidden = true;
    cross.classList.remove('on');
  }

  if (picture) {
    document.addEventListener('pointerover', e => {
      const thing = e.target.closest('#picture [role=option]');
      if (thing) show(thing);
      else if (!e.target.closest('#tip')) hide();
    });
    picture.addEventListener('focusin', e => show(e.target));
    picture.addEventListener('focusout', hide);
    document.addEventListener('scroll', place, {passive: true});
    addEventListener('resize', place);
    document.addEventListener('keydown', e => { if (e.key === 'Escape') hide(); });
    for (const list of picture.querySelectorAll('[role=listbox]')) walk(list);
  }

  // One stop for Tab; arrows go from one thing to the next.
  function walk(list) {
    const things = [...list.children];
    let now = 0;
    const go = to => {
      things[now].tabIndex = -1;
      now = Math.min(Math.max(to, 0), things.length - 1);
      things[now].tabIndex = 0;
      things[now].focus();
    };
    list.addEventListener('keydown', e => {
      const to = {
        ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1,
        PageDown: now + 10, PageUp: now - 10, Home: 0, End: things.length - 1,
      }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      go(to);
    });
    list.addEventListener('pointerdown', e => {
      const i = things.indexOf(e.target.closest('[role=option]'));
      if (i >= 0) go(i);
    });
  }

  const form = $('filter');
  if (form) {
    const rows = [...$('failures').tBodies[0].rows], shown = $('shown'), all = shown.textContent;
    const text = $('filter-text'), owner = $('filter-owner');
    const words = rows.map(r => r.textContent.toLowerCase());
    const filter = () => {
      const want = text.value.trim().toLowerCase();
      let n = 0;
      rows.forEach((row, i) => {
        row.hidden = !(words[i].includes(want) && (!owner.value || row.dataset.owner === owner.value));
        if (!row.hidden) n++;
      });
      shown.textContent = want || owner.value ? n.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + ' shown here' : all;
    };
    form.addEventListener('input', filter);
    form.addEventListener('submit', e => e.preventDefault());
    form.hidden = false;
    filter();
  }

  // Paper cannot unfold anything.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach(d => { d.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach(d => { d.open = false; }));
})();
