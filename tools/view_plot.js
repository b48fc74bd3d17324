/* The plots beside the picture: what is in them, and how they are drawn. */

/* ==== Plots ================================================================================ */

/* Colours of lines that stay apart on light and on dark paper. */
const LINES = ['#2f7fbf', '#d9772b', '#3f9b62', '#b8508c'];
const SPARE_LINES = ['#3f9b62', '#b8508c', '#8067c4', '#a68a1e', '#2b9aa0', '#8d6a52'];
const MOST_LINES = 6;                             /* in a plot; the others are drawn without a name */

/* Forces of each pair of bodies over all steps, the strongest first. */
function pairSeries(run, bodies) {
    const pairs = new Map();
    run.steps.forEach((step, i) => step.pairs.forEach(p => {
        const key = p.a + ' ' + p.b;
        if (!pairs.has(key)) {
            const series = () => new Float64Array(run.steps.length).fill(i ? 0 : NaN);
            const name = bodies[p.a].name + ' – ' + bodies[p.b].name;
            pairs.set(key, { key, name, force: series(), friction: series(), most: 0 });
        }
        const pair = pairs.get(key);
        pair.force[i] = norm(p.force);
        pair.friction[i] = norm(p.friction);
        pair.most = Math.max(pair.most, pair.force[i]);
    }));
    const list = [...pairs.values()].sort((a, b) => b.most - a.most);
    list.forEach((pair, i) => {
        pair.colour = i < MOST_LINES ? pairColour(pair, bodies, list.slice(0, i)) : '#8a9298';
    });
    return list;
}

/* That of one of its bodies, where no stronger pair has it; else one that no body has. */
function pairColour(pair, bodies, stronger) {
    const free = c => !stronger.some(p => p.colour === c);
    const own = pair.key.split(' ').reverse().map(i => bodies[i]).filter(b => b.moving && !b.paint)
        .map(b => '#' + b.colour.map(v => Math.round(225 * v).toString(16).padStart(2, '0')).join(''));
    return own.concat(SPARE_LINES).find(free) || SPARE_LINES[0];
}

function listPlots(run, pairs) {
    const column = key => Float64Array.from(run.steps, s => s[key]), potential = column('potential');
    let lowest = Infinity;
    for (const v of potential) if (v < lowest) lowest = v;
    const forces = pairs.flatMap((p, i) => [
        { name: i < MOST_LINES ? p.name : '', colour: p.colour, value: p.force, wide: i === 0 },
        { name: '', colour: p.colour, value: p.friction, dashed: true }]);
    return [
        { title: 'Force of each pair', note: 'dashed: friction', unit: 'N', series: forces },
        { title: 'Smallest distance', unit: 'm', log: true,
          series: [{ name: '', colour: LINES[0], value: column('distance') }] },
        { title: 'Newton iterations', note: 'of each step', unit: '', stairs: true,
          series: [{ name: '', colour: LINES[3], value: column('newton') }] },
        { title: 'Energies', note: 'potential: above its lowest', unit: 'J', log: true, decades: 5, series: [
            { name: 'kinetic', colour: LINES[0], value: column('kinetic') },
            { name: 'elastic', colour: LINES[1], value: column('elastic') },
            { name: 'barrier', colour: LINES[3], value: column('barrier') },
            { name: 'potential', colour: LINES[2], value: potential.map(v => v - lowest) }] }
    ];
}

/* The range of a plot and where its grid lines are. */
function plotRange(plot) {
    let most = 0, least = Infinity;
    for (const s of plot.series)
        for (const v of s.value) if (v > 0) { most = Math.max(most, v); least = Math.min(least, v); }
    plot.ticks = [];
    plot.powers = plot.log && most > 0;
    if (!plot.powers) {
        plot.low = 0;
        plot.high = niceAbove(most || 1, plot.stairs ? EVEN_STEPS : FINE_STEPS);
        for (let i = 0; i <= 2; i++) plot.ticks.push(plot.high * i / 2);
        return;
    }
    if (plot.decades) least = Math.max(least, most * Math.pow(10, -plot.decades));
    plot.low = Math.log10(least * 0.8);
    plot.high = Math.log10(most * 1.25);
    const range = plot.high - plot.low;
    const steps = range < 0.7 ? [1, 1.5, 2, 3, 4, 6, 8] : range < 1.6 ? [1, 2, 5] : [1];
    for (let d = Math.floor(plot.low); d <= plot.high; d++)
        for (const m of steps) {
            const at = d + Math.log10(m);
            if (at >= plot.low && at <= plot.high) plot.ticks.push(m * Math.pow(10, d));
        }
    while (plot.ticks.length > 4) plot.ticks = plot.ticks.filter((t, i) => i % 2 === 0);
}

const GUTTER = 52, PLOT_TOP = 5, PLOT_BOTTOM = 16;

/* From values to pixels; where in the canvas a value and a step are. */
function plotY(plot, value, height) {
    const v = plot.powers ? Math.log10(value) : value;
    const t = Math.min(1, Math.max(0, (v - plot.low) / (plot.high - plot.low)));
    return PLOT_TOP + (1 - t) * (height - PLOT_TOP - PLOT_BOTTOM);
}

function drawSeries(c, plot, series, times, end, width, height) {
    let drawing = false, y = 0;
    c.beginPath();
    series.value.forEach((v, i) => {
        const x = GUTTER + times[i] / end * (width - GUTTER - 4);
        if (!(v >= 0)) { drawing = false; return; }
        if (plot.stairs && drawing) c.lineTo(x, y);
        y = plotY(plot, v, height);
        if (drawing) c.lineTo(x, y); else c.moveTo(x, y);
        drawing = true;
    });
    c.strokeStyle = series.colour;
    c.lineWidth = series.dashed ? 1 : series.wide ? 4 : 1.6;   /* wide: another may lie on it */
    c.setLineDash(series.dashed ? [3, 3] : []);
    c.lineJoin = 'round';
    c.stroke();
    c.setLineDash([]);
}

/* Everything but the cursor; drawn again only when the size or the colours of the page change. */
function drawPlot(plot, times, end, style) {
    const ratio = Math.min(devicePixelRatio || 1, 3), canvas = plot.canvas, c = canvas.getContext('2d');
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    c.scale(ratio, ratio);
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    for (const tick of plot.ticks) {
        const y = Math.round(plotY(plot, tick, height)) + 0.5;
        c.fillStyle = style.line;
        c.fillRect(GUTTER, y - 0.5, width - GUTTER - 4, 1);
        c.fillStyle = style.quiet;
        c.fillText(withUnit(tick, plot.unit, 2), GUTTER - 6, y);
    }
    const every = niceAbove(end / 5), last = Math.floor(end / every + 1e-6);
    for (let i = 0; i <= last; i++) {
        const x = GUTTER + i * every / end * (width - GUTTER - 4);
        c.textAlign = x > width - 24 ? 'right' : 'center';
        c.fillText(Number((i * every).toPrecision(3)) + ' s', Math.min(x, width - 2), height - 6);
    }
    for (const s of plot.series) drawSeries(c, plot, s, times, end, width, height);
}

function makeElement(tag, parent, text, className) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    parent.appendChild(e);
    return e;
}

/* The elements of a plot; go(time) is called while it is dragged in. */
function buildPlot(plot, end, go) {
    const box = makeElement('section', $('plots'), undefined, 'plot'), title = makeElement('h2', box, plot.title);
    box.setAttribute('aria-label', plot.title + ' over time');
    plot.now = makeElement('span', title, plot.note || '');
    plot.canvas = makeElement('canvas', box);
    plot.cursor = makeElement('div', box, undefined, 'cursor');
    const named = plot.series.filter(s => s.name), list = named.length ? makeElement('ul', box) : null;
    for (const s of named) {
        const item = makeElement('li', list);
        makeElement('i', item).style.background = s.colour;
        item.appendChild(document.createTextNode(s.name + ' '));
        s.shown = makeElement('b', item);
    }
    plot.canvas.addEventListener('pointerdown', e => {
        const move = m => go((m.clientX - plot.canvas.getBoundingClientRect().left - GUTTER) /
                             (plot.canvas.clientWidth - GUTTER - 4) * end);
        const stop = () => { removeEventListener('pointermove', move); };
        move(e);
        addEventListener('pointermove', move);
        for (const end_ of ['pointerup', 'pointercancel']) addEventListener(end_, stop, { once: true });
    });
}

/* The cursor and the numbers beside it. */
function showInPlot(plot, step, share) {
    const x = GUTTER + share * (plot.canvas.clientWidth - GUTTER - 4);
    plot.cursor.style.transform = 'translateX(' + x.toFixed(1) + 'px)';
    plot.cursor.style.top = plot.canvas.offsetTop + 'px';
    for (const s of plot.series) if (s.shown) s.shown.textContent = withUnit(s.value[step], plot.unit);
    if (plot.series.length === 1) plot.now.textContent = withUnit(plot.series[0].value[step], plot.unit);
}
