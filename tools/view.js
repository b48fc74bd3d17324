/* The viewer: what is shown of a run, and the page around it. view_scene.js has the camera and draws. */

/* ==== The viewer =========================================================================== */

const KIND = { fixed: 'fixed', kinematic: 'driven', affine: 'affine', cage: 'in a cage', full: 'all nodes' };

/* The run and what is derived from it once. */
let scene, run, frameAt, pairs, plots;
let last, frameTime, end;             /* number of the last frame; s from frame to frame; s of the last */
let times, runEnd;                    /* s of each step, and of the last */

/* What is shown. at: in frames, not whole between them. */
const state = { at: 0, playing: false, speed: 1, loop: true, colour: 'body', cage: false, forces: false,
                marker: false, joints: true };
const scales = {};
let frame = null;                     /* decoded */
let clock = 0, shownAt = -1, told = 0, still = 0;   /* ms: last tick, last words, without a change */

/* ---- where the bodies are ---- */

function setBodies(at) {
    const k = Math.min(Math.floor(at), last), a = at - k, now = frameAt(k), next = a > 0 ? frameAt(k + 1) : now;
    frame = now;
    bodies.forEach((body, i) => {
        if (!body.moving) return;
        for (let p = 0; p < body.q.length; p++) body.q[p] = now[i].q[p] + a * (next[i].q[p] - now[i].q[p]);
        embed(body, body.q, body.x, 3);
    });
    return k;
}

function valuesOf(kind, k, body, i, out) {
    if (kind === 'strain') strainOf(body, frameAt(k)[i], out);
    else if (kind === 'pressure') pressureOf(body, frameAt(k)[i], body.x, out);
    else speedOf(body, frameAt(Math.max(k, 1))[i], frameAt(Math.max(k, 1) - 1)[i], frameTime, out);
}

/* The upper end of a colour scale: what one in fifty of the values above 0 exceeds, over the run. */
function scaleOf(kind) {
    if (scales[kind] || kind === 'body' || last < 1) return scales[kind];
    const found = [], stride = Math.max(1, Math.floor((last + 1) / 60));
    for (let k = 0; k <= last; k += stride) {
        setBodies(k);
        bodies.forEach((body, i) => {
            const out = new Float32Array(body.vertices);
            valuesOf(kind, k, body, i, out);
            for (const v of out) if (v > 0) found.push(v);
        });
    }
    found.sort((a, b) => a - b);
    scales[kind] = niceAbove(found.length ? found[Math.floor(0.98 * (found.length - 1))] : 1, FINE_STEPS);
    setBodies(state.at);
    return scales[kind];
}

/* The box of what moves, over the run. */
function findSubject() {
    const moving = bodies.filter(b => b.moving), box = emptyBox();
    for (let i = 0; i <= 12; i++) {
        setBodies(Math.round(last * i / 12));
        boxOf(moving.length ? moving : bodies, box);
    }
    setBodies(0);
    subject = box;
    radius = norm(sub(box.high, box.low)) / 2;
    camera.fit = box.low.map((v, k) => (v + box.high[k]) / 2);
    bodies.filter(b => !b.moving).forEach(findFloor);
    if (!floor) floor = { origin: [0, 0, box.low[2]], n: [0, 0, 1], u: [1, 0, 0], v: [0, 1, 0], low: [-1e6, -1e6],
                          high: [1e6, 1e6], body: null };
}

const bytesOfColour = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)).concat(255);

/* The largest forces of the run, that arrows are drawn to scale with; of vertices by some frames. */
function forceScales() {
    let vertex = 0;
    for (let i = 0; i <= 24; i++)
        for (const f of frameAt(Math.round(last * i / 24)))
            for (let p = 0; f.force && p < f.force.length; p += 3)
                vertex = Math.max(vertex, Math.hypot(f.force[p], f.force[p + 1], f.force[p + 2]));
    const pair = pairs.length ? pairs[0].most : 0;
    return { vertex: vertex || 1, pair: pair || 1 };
}

/* Lengths go with the root of forces, so that weak ones are seen beside strong ones. */
function buildArrows(step) {
    const scale = scales.force || (scales.force = forceScales());
    bodies.forEach((body, i) => {
        const f = frame[i].force, x = body.x;
        if (!body.visible || !body.moving || !f) return;
        for (let p = 0; p < f.length; p += 3) {
            const force = f.subarray(p, p + 3), tip = x.subarray(p, p + 3), size = norm(force);
            const length = 0.13 * radius * Math.sqrt(size / scale.vertex);
            if (length < 0.008 * radius) continue;
            addArrow(arrows, along(tip, -length / size, force), tip, 0.0022 * radius, style.force);
        }
    });
    arrows.thin = arrows.count;
    for (const p of run.steps[step].pairs) {
        const size = norm(p.force), length = 0.42 * radius * Math.sqrt(size / scale.pair);
        if (!bodies[p.a].visible && !bodies[p.b].visible || length < 0.02 * radius) continue;
        const sign = bodies[p.a].moving ? 1 : -1;   /* the force on the one that moves */
        addArrow(arrows, along(p.at, -sign * length / size, p.force), p.at, 0.011 * radius,
                 bytesOfColour(pairs.find(q => q.key === p.a + ' ' + p.b).colour));
    }
}

/* Joints as points or lines, from where their bodies are. */
function buildJoints() {
    for (const joint of scene.joints) {
        const at = joint.at.map(p => anchorAt(p, bodies));
        if (joint.kind === 'attach') for (const p of at) addBar(arrows, p, p, 0.006 * radius, style.joint);
        else addBar(arrows, at[0], at[at.length - 1], (at.length > 1 ? 0.008 : 0.016) * radius, style.joint);
    }
}

/* A ring and the distance, laid over the picture: the points themselves are too near to be told apart. */
function showNearest(step) {
    const at = run.steps[step].nearest, box = $('nearest');
    box.hidden = !(state.marker && at);
    if (box.hidden) return;
    const [x, y] = pixelOf([0, 1, 2].map(k => (at[k] + at[3 + k]) / 2));
    box.style.transform = 'translate(' + x.toFixed(1) + 'px,' + y.toFixed(1) + 'px)';
    const names = [...new Set([at[6], at[7]])].map(i => bodies[i]).filter(b => b).map(b => b.name);
    box.lastElementChild.textContent = withUnit(run.steps[step].distance, 'm') + ' ' + names.join(' – ');
    box.classList.toggle('left', x > 0.6 * canvas.clientWidth);   /* so that the words stay in the picture */
}

function updateMeshes(k) {
    const scale = scaleOf(state.colour);
    bodies.forEach((body, i) => {
        if (!body.moving && !reshaped && state.colour !== 'pressure') return;
        if (scale) valuesOf(state.colour, k, body, i, body.mesh.value);
        updateMesh(r, body, scale);
    });
}

/* Arrows of forces and bars of joints that are to be seen. */
function buildOverlay(step) {
    arrows.count = arrows.thin = 0;
    if (state.forces) buildArrows(step);
    if (state.joints) buildJoints();
}

/* The picture of this moment. */
function draw() {
    const k = setBodies(state.at), step = run.frames[k].step;
    if (r && !r.gl.isContextLost()) {
        const moved = state.at !== shownAt || reshaped;
        if (moved) updateMeshes(k);
        drawPicture(moved, state.colour === 'pressure' ? 'faded' : state.colour !== 'body', () => {
            if (state.cage) drawCages();
            buildOverlay(step);
            drawArrows();
        });
        showNearest(step);
        shownAt = state.at;
    }
    drawn++;
}

/* ---- the page around it ---- */

/* The colours of the page, and what depends on them. */
function restyle() {
    readStyle();
    for (const plot of plots) drawPlot(plot, times, runEnd, style);
}

/* Time, scrubber, cursors and numbers; during playback fifteen times a second, as text is costly. */
function tell(now, must) {
    if (!must && now - told < 66) return;
    told = now;
    const k = Math.min(Math.floor(state.at + 1e-9), last), f = run.frames[k], time = state.at * frameTime;
    $('clock').textContent = time.toFixed(frameTime < 0.01 ? 3 : 2) + ' of ' + Number(end.toPrecision(4)) +
                             ' s, step ' + run.steps[f.step].step;
    $('scrub').value = k;
    $('scrub').setAttribute('aria-valuetext', time.toFixed(2) + ' seconds');
    for (const plot of plots) showInPlot(plot, f.step, time / runEnd);
}

const PLAY_SIGN = 'M6 4l14 8-14 8z', PAUSE_SIGN = 'M6 4h4v16H6zM14 4h4v16h-4z';

function setPlaying(on) {
    if (on && state.at >= last) state.at = 0;
    state.playing = on && last > 0;
    if (!on) state.at = Math.round(state.at);   /* paused, the picture is a frame */
    $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
    $('play').querySelector('path').setAttribute('d', state.playing ? PAUSE_SIGN : PLAY_SIGN);
    dirty = true;
}

function goTo(at) {
    state.at = Math.min(last, Math.max(0, at));
    dirty = true;
}
function seek(at) { setPlaying(false); goTo(Math.round(at)); }

function toggle(key) {
    state[key] = !state[key];
    $(key).setAttribute('aria-pressed', state[key]);
    dirty = true;
}

function setVisible(body, on) {
    body.visible = body.box.checked = on;
    dirty = reshaped = true;
}

function setColour(kind) {
    state.colour = $('colour').value = kind;
    $('scale').hidden = kind === 'body';
    dirty = reshaped = true;
    if (kind === 'body') return;
    const [caption, bar, ends] = $('scale').children;
    caption.textContent = { strain: 'Strain', speed: 'Speed', pressure: 'Contact pressure' }[kind];
    const stops = RAMP.map(c => 'rgb(' + c.map(v => Math.round(255 * v)).join() + ')');
    bar.style.background = 'linear-gradient(90deg,' + stops.join() + ')';
    const unitOf = { strain: '', speed: 'm/s', pressure: 'Pa' };
    ends.lastElementChild.textContent = withUnit(scaleOf(kind), unitOf[kind]);
}

function changeSpeed(by) {
    const box = $('speed');
    box.selectedIndex = Math.min(box.options.length - 1, Math.max(0, box.selectedIndex + by));
    state.speed = Number(box.value);
}

function buildBodies() {
    $('count').textContent = bodies.length === 1 ? '1 body' : bodies.length + ' bodies';
    bodies.forEach((body, i) => {
        const item = makeElement('li', $('bodies')), label = makeElement('label', item);
        body.box = makeElement('input', label);
        body.box.type = 'checkbox';
        body.box.checked = true;
        const swatch = makeElement('span', label, undefined, 'swatch');
        swatch.style.background = 'rgb(' + body.colour.map(v => Math.round(255 * v)).join() + ')';
        makeElement('span', label, body.name);
        makeElement('em', label, KIND[body.kind]);
        label.title = 'Show or hide' + (i < 9 ? ' (' + (i + 1) + ')' : '');
        body.box.addEventListener('change', () => setVisible(body, body.box.checked));
    });
}

const keys = {
    ' ': () => setPlaying(!state.playing), ArrowLeft: () => seek(Math.ceil(state.at) - 1),
    ArrowRight: () => seek(Math.floor(state.at) + 1),
    ArrowUp: () => changeSpeed(1), ArrowDown: () => changeSpeed(-1),
    Home: () => seek(0), End: () => seek(last), c: () => toggle('cage'), f: () => toggle('forces'),
    m: () => toggle('marker'), j: () => toggle('joints'), l: () => toggle('loop'), r: resetView
};
function onKey(e) {
    const at = e.target.tagName, digit = '123456789'.indexOf(e.key);
    if (e.ctrlKey || e.metaKey || e.altKey || at === 'SELECT') return;
    if (e.key === ' ' && (/BUTTON|SUMMARY/.test(at) || e.target.type === 'checkbox')) return;
    if (keys[e.key]) { keys[e.key](); e.preventDefault(); }
    else if (digit >= 0 && bodies[digit]) setVisible(bodies[digit], !bodies[digit].visible);
}

function buildControls() {
    $('play').addEventListener('click', () => setPlaying(!state.playing));
    $('scrub').max = last;
    $('scrub').addEventListener('input', () => seek(Number($('scrub').value)));
    $('speed').addEventListener('change', () => { state.speed = Number($('speed').value); });
    $('colour').addEventListener('change', () => setColour($('colour').value));
    $('joints').hidden = !scene.joints.length;
    for (const key of ['cage', 'forces', 'joints', 'marker', 'loop'])
        $(key).addEventListener('click', () => toggle(key));
    $('reset').addEventListener('click', resetView);
    addEventListener('click', e => {   /* a button that was clicked does not keep the space key */
        if (e.detail && e.target.closest('button')) e.target.closest('button').blur();
    });
}

function buildText() {
    const name = scene.name.replace(/\.json$/, ''), short = runEnd < 0.999 * scene.duration;
    document.title = name + ' – embipc';
    $('name').textContent = name;
    const cut = short ? ', stopped before its ' + Number(scene.duration.toPrecision(4)) + ' s' : '';
    $('info').textContent = `${run.steps.length - 1} steps of ${withUnit(scene.time_step, 's')}, ${last + 1}` +
        ` frame${last ? 's' : ''}${cut}. Surfaces here are within ${withUnit(run.error, 'm', 2)} of the exact ones, ` +
        'which embipc run writes with --out and --frames.';
}

function tick(now) {
    const gap = now - clock;
    clock = now;
    if (state.playing) {
        state.at += Math.min(gap, 100) / 1000 * state.speed / frameTime;
        if (state.at >= last) {
            if (state.loop) state.at = 0;
            else { state.at = last; setPlaying(false); }
        }
        adapt(gap);
    }
    still = state.playing || dirty ? 0 : still + gap;
    const polish = r && r.software && !fine && still > 250;   /* all edges smooth, once it stands still */
    if (state.playing || dirty || polish) {
        const must = dirty;
        dirty = false;
        fine = polish;
        draw();
        tell(now, must);
    }
    requestAnimationFrame(tick);
}

/* ---- from the page to the first picture ---- */

function readPage() {
    scene = JSON.parse($('scene').textContent);
    camera.first = scene.view;
    run = readRun($('run').textContent);
    bodies = scene.bodies.map(readBody);
    frameAt = frameReader(run, bodies);
    last = run.frames.length - 1;
    frameTime = scene.time_step * scene.every;
    end = run.frames[last].time || 1;
    times = run.steps.map(s => s.time);
    runEnd = times[times.length - 1] || 1;
    pairs = pairSeries(run, bodies);
    plots = listPlots(run, pairs);
}

function start() {
    readPage();
    canvas = $('picture');
    r = makeRenderer(canvas);
    if (!r) say('This browser has no WebGL, or it is switched off: there is no picture, but the plots work.');
    canvas.addEventListener('webglcontextlost', () => say('The driver lost the picture; load the page again.'));
    findSubject();
    bodies.forEach((body, i) => {
        if (body.moving) { body.edges = tetEdges(body.tet); body.rest = restTets(body, frameAt(0)[i].q); }
        if (r) body.mesh = makeMesh(r, body, () => { dirty = true; });
    });
    buildBodies();
    for (const plot of plots) {
        plotRange(plot);
        buildPlot(plot, runEnd, time => { setPlaying(false); goTo(Math.round(time / frameTime)); });
    }
    buildControls();
    buildText();
    restyle();
    resetView();
    listenToPointers();
    addEventListener('keydown', onKey);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
    addEventListener('resize', () => {
        restyle();
        if (!camera.moved) resetView();
    });
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) setPlaying(true);
    requestAnimationFrame(now => { clock = now; tick(now); });

    /* for the console, and for tests */
    const plainDraw = () => { fine = false; draw(); };
    window.embipc = { state, run, bodies, camera, draw: plainDraw, seek, setColour, count: () => drawn };
}

document.addEventListener('DOMContentLoaded', () => {
    try { start(); } catch (error) {
        $('message').textContent = 'The run could not be shown: ' + error.message;
        $('message').hidden = false;
        throw error;
    }
});
