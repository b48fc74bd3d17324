/* The page of `make web`: steps the module, keeps what is drawn, and gives hand, sliders and numbers their meaning. */

/* ==== The page ============================================================================= */

const STEPS = [1 / 240, 1 / 120, 1 / 60, 1 / 30], NODES = [14, 34, 70, 130, 220];   /* what the sliders choose from */
const OPEN = 0.2, CLOSED = 0.05;                  /* m between the plates */
const KINDS = ['fixed', 'kinematic', 'affine', 'cage', 'full'];
const GREY = [0.55, 0.6, 0.66];
const BOXES = [[0.86, 0.42, 0.27], [0.25, 0.55, 0.74], [0.83, 0.64, 0.22], [0.38, 0.6, 0.4], [0.6, 0.42, 0.66]];
const BUDGET = 60;                                /* ms that steps may take between two pictures */

const state = { paused: false, cage: false, held: false, alpha: 1 };
let module, paint;                /* exports of the module; the bear as the viewer has it, with its paint */
let known = new Map();            /* bodies by the number that the module gives them */
let late = 0, clock = 0, told = 0, checked = 0;   /* s that steps are behind; ms of the last picture, words, check */
let still = 0;                    /* ms without a change */
let spent = 0, made = 0, simulated = 0, since = 0;    /* since the last words: ms in steps, steps, s; ms when */
let depth = 0, boxColour = 0;     /* m from the eye to what is held; number of boxes drawn so far */

const value = id => Number($(id).value);
const numbersOf = () => new Float64Array(module.memory.buffer, module.web_numbers(), 16);

/* ---- the module ---- */

async function unpack(base64) {
    if (!window.DecompressionStream) throw new Error('this browser is older than 2023');
    const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('gzip'));
    const code = await WebAssembly.compile(await new Response(stream).arrayBuffer()), imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(code)) {   /* files and exit, never called */
        imports[from] = imports[from] || {};
        imports[from][name] = () => { throw new Error(name + ' was called'); };
    }
    return (await WebAssembly.instantiate(code, imports)).exports;
}

function textOf(address) {
    const bytes = new Uint8Array(module.memory.buffer, address, 256);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

/* 1 where a call succeeded; else its text is shown. */
function succeeds(result) {
    if (result) say(textOf(module.web_text()));
    else $('message').hidden = true;
    return !result;
}

function giveBear() {
    const { x, triangle } = paint, px = module.web_alloc(8 * x.length), pt = module.web_alloc(4 * triangle.length);
    new Float64Array(module.memory.buffer, px, x.length).set(x);
    new Uint32Array(module.memory.buffer, pt, triangle.length).set(triangle);
    module.web_bear(px, x.length / 3, pt, triangle.length / 3);
}

/* Begins anew with what the sliders say. */
function restart(boxes) {
    const h = STEPS[value('step')];
    if (!succeeds(module.web_start(10 ** value('young'), value('friction'), h, NODES[value('nodes')], boxes))) return;
    known.forEach(forget);
    known.clear();
    boxColour = late = 0;
    syncBodies();
    dirty = reshaped = true;
}

/* ---- what is drawn ---- */

/* WebGL draws nothing while an attribute is on whose buffer is gone. */
function forget(body) {
    if (!r) return;
    for (let i = 0; i < 8; i++) r.gl.disableVertexAttribArray(i);
    const { points, colours, triangles, uv, paint: texture } = body.mesh;
    for (const buffer of [points, colours, triangles, uv]) if (buffer) r.gl.deleteBuffer(buffer);
    if (texture) r.gl.deleteTexture(texture);
}

function makeBody(i, id) {
    const [, kind, vertices, triangles, address, nodes, tets, tetAddress] = bodyOf(i), bear = KINDS[kind] === 'cage';
    const body = {
        id, i, kind: KINDS[kind], moving: kind > 0, vertices, visible: true, q: new Float64Array(3 * nodes), edges: [],
        triangle: new Uint32Array(module.memory.buffer, address, 3 * triangles).slice(),
        x: new Float32Array(3 * vertices),
        colour: KINDS[kind] === 'affine' ? BOXES[boxColour++ % BOXES.length] : GREY
    };
    if (bear) {
        Object.assign(body, { colour: paint.colour, paint: paint.paint, tile: paint.tile, across: paint.across });
        body.edges = tetEdges(new Uint32Array(module.memory.buffer, tetAddress, 4 * tets));
    }
    placeBody(body, 1);
    if (r) {
        body.mesh = makeMesh(r, body, () => { dirty = true; });
        updateMesh(r, body, 0);
    }
    return body;
}

const bodyOf = i => new Int32Array(module.memory.buffer, module.web_body(i), 8).slice();

function placeBody(body, alpha) {
    const at = module.web_vertices(body.i, alpha);
    body.x.set(new Float32Array(module.memory.buffer, at, body.x.length));
    if (state.cage && body.q.length)
        body.q.set(new Float64Array(module.memory.buffer, module.web_nodes(body.i), body.q.length));
}

/* The bodies of the module, in its order, with their meshes. */
function syncBodies() {
    const before = known;
    known = new Map();
    bodies = [];
    for (let i = 0; i < module.web_body_count(); i++) {
        const id = bodyOf(i)[0], body = before.get(id) || makeBody(i, id);
        body.i = i;
        known.set(id, body);
        before.delete(id);
        bodies.push(body);
    }
    before.forEach(forget);
    floor.body = bodies[0];
    floor.body.floor = true;
}

/* What is looked at stays the same, whatever moves. */
function findSubject() {
    subject = { low: [-0.12, -0.15, 0], high: [0.12, 0.15, 0.27] };
    radius = norm(sub(subject.high, subject.low)) / 2;
    camera.fit = subject.low.map((v, k) => (v + subject.high[k]) / 2);
    floor = { origin: [0, 0, -0.001], n: [0, 0, 1], u: [1, 0, 0], v: [0, 1, 0], low: [-5, -5], high: [5, 5] };
}

/* The line from the point that is held to the pointer. */
function drawHand() {
    arrows.count = arrows.thin = 0;
    const at = module.web_hand();
    if (!at) return;
    const p = new Float64Array(module.memory.buffer, at, 6), from = [p[0], p[1], p[2]], to = [p[3], p[4], p[5]];
    addBar(arrows, from, from, 0.016 * radius, style.joint);
    addBar(arrows, from, to, 0.005 * radius, style.joint);
    drawArrows();
}

/* Cages are drawn where a step ended, so surfaces then are, too. */
function draw() {
    if (r && !r.gl.isContextLost()) {
        for (const body of bodies) {
            if (!body.moving) continue;
            placeBody(body, state.cage ? 1 : state.alpha);
            updateMesh(r, body, 0);
        }
        drawPicture(true, false, () => {
            if (state.cage) drawCages();
            drawHand();
        });
    }
    drawn++;
}

/* ---- hand ---- */

/* Direction of the pointer, of length 1 along the view. */
function aim(e) {
    const box = canvas.getBoundingClientRect(), { back, right, up } = axes();
    const x = 2 * (e.clientX - box.x) / box.width - 1, y = 1 - 2 * (e.clientY - box.y) / box.height;
    return along(along([-back[0], -back[1], -back[2]], tangent * x * box.width / box.height, right), tangent * y, up);
}

const hand = {
    take(e) {
        const dir = aim(e), far = along(eye, 60 * radius, dir);
        if (!module.web_take(...eye, ...far)) return false;
        const p = new Float64Array(module.memory.buffer, module.web_hand() + 24, 3);
        depth = -dot(sub(p, eye), axes().back);
        state.held = true;
        return true;
    },
    move(e) {
        const to = along(eye, depth, aim(e));
        module.web_pull(to[0], to[1], Math.max(to[2], 0));
    },
    release() {
        module.web_release();
        state.held = false;
    }
};

/* ---- steps ---- */

function step() {
    const start = performance.now();
    if (module.web_step()) {
        say(textOf(module.web_text()));
        setPaused(true);
    }
    spent += performance.now() - start;
    simulated += STEPS[value('step')];
    made++;
    return performance.now() - start;
}

/* The steps that are due, or as many as fit between two pictures. Returns how long they took, ms. */
function advance(gap) {
    const h = STEPS[value('step')];
    let took = 0;
    for (late += Math.min(gap, 250) / 1000; late >= h && !state.paused; late -= h) {
        if (took > BUDGET) late = h * (1 + late / h % 1);
        else took += step();
    }
    state.alpha = Math.min(1, late / h);
    return took;
}

function tick(now) {
    const gap = now - clock;
    let took = 0;
    clock = now;
    if (!state.paused) {
        took = advance(gap);
        syncBodies();
        dirty = true;
        adapt(gap - took);
    }
    still = state.paused && !dirty ? still + gap : 0;
    const polish = r && r.software && !fine && still > 250;   /* all edges smooth, once it stands still */
    if (dirty || polish) {
        dirty = false;
        fine = polish;
        draw();
    }
    tell(now);
    requestAnimationFrame(tick);
}

/* ---- the page around it ---- */

/* Numbers four times a second, crossings once. */
function tell(now) {
    if (now - told < 250) return;
    const n = numbersOf();
    if (now - since > 900 && made) {
        $('speed').textContent = '× ' + (simulated / (now - since) * 1000).toFixed(2);
        $('cost').textContent = withUnit(spent / made / 1000, 's', 2);
        state.stepsPerSecond = 1000 * made / spent;
        state.stepsMade = 1000 * made / (now - since);
        spent = made = simulated = 0;
        since = now;
    }
    told = now;
    $('iterations').textContent = n[1];
    $('contacts').textContent = n[2];
    $('distance').textContent = n[2] ? withUnit(n[3], 'm', 3) : '–';
    tellGripper(n);
    $('cage-text').textContent = n[9];
    if (now - checked < 1000) return;
    checked = now;
    const crossings = module.web_crossings();
    $('crossings').textContent = crossings;
    $('crossings').classList.toggle('bad', crossings !== 0);
}

function tellGripper(n) {
    $('gap-text').textContent = Math.round(1000 * n[6]) + ' mm, ' + (n[5] < 0.05 ? 'no force' : withUnit(n[5], 'N', 2));
    $('lift-text').textContent = Math.round(1000 * n[7]) + ' mm';
}

function tellSliders() {
    $('young-text').textContent = withUnit(10 ** value('young'), 'Pa', 2);
    $('friction-text').textContent = value('friction').toFixed(2);
    $('step-text').textContent = '1/' + Math.round(1 / STEPS[value('step')]) + ' s';
}

function setPaused(on) {
    state.paused = on;
    late = 0;
    $('pause').setAttribute('aria-pressed', on);
    $('pause').textContent = on ? 'Go on' : 'Pause';
}

function toggleCage() {
    state.cage = !state.cage;
    $('cage').setAttribute('aria-pressed', state.cage);
    dirty = true;
}

function drop() {
    if (succeeds(module.web_drop())) syncBodies();
    dirty = true;
}

const grip = () => module.web_grip(OPEN + value('gap') * (CLOSED - OPEN), value('lift'));
const anew = () => restart(numbersOf()[8]);

function buildControls() {
    for (const id of ['gap', 'lift']) $(id).addEventListener('input', grip);
    for (const id of ['young', 'nodes', 'friction', 'step']) $(id).addEventListener('input', tellSliders);
    for (const id of ['young', 'nodes']) $(id).addEventListener('change', anew);
    $('friction').addEventListener('input', () => succeeds(module.web_set_friction(value('friction'))));
    $('step').addEventListener('input', () => succeeds(module.web_set_time_step(STEPS[value('step')])));
    $('drop').addEventListener('click', drop);
    $('pause').addEventListener('click', () => setPaused(!state.paused));
    $('restart').addEventListener('click', () => restart(0));
    $('cage').addEventListener('click', toggleCage);
    $('reset').addEventListener('click', resetView);
    $('controls').addEventListener('submit', e => e.preventDefault());
    addEventListener('click', e => {   /* a button that was clicked does not keep the space key */
        if (e.detail && e.target.closest('button')) e.target.closest('button').blur();
    });
    canvas.addEventListener('pointermove', e => {
        if (!e.buttons && e.pointerType === 'mouse') canvas.classList.toggle('over', overBody(e));
    });
}

/* Is there something to pull? */
function overBody(e) {
    if (!eye) return false;
    return module.web_over(...eye, ...along(eye, 60 * radius, aim(e))) !== 0;
}

const keys = { ' ': () => setPaused(!state.paused), b: drop, r: () => restart(0), c: toggleCage };
function onKey(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    if (e.key === ' ' && e.target.tagName === 'BUTTON') return;
    keys[e.key]();
    e.preventDefault();
}

async function start() {
    paint = readBody(JSON.parse($('scene').textContent).bodies[0]);
    canvas = $('picture');
    r = makeRenderer(canvas);
    if (!r) say('This browser has no WebGL, or it is switched off: there is no picture, but the numbers work.');
    canvas.addEventListener('webglcontextlost', () => say('The driver lost the picture; load the page again.'));
    module = await unpack($('wasm').textContent);
    giveBear();
    findSubject();
    restart(0);
    buildControls();
    tellSliders();
    grip();
    readStyle();
    resetView();
    listenToPointers(hand);
    addEventListener('keydown', onKey);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', readStyle);
    addEventListener('resize', () => {
        readStyle();
        if (!camera.moved) resetView();
    });
    $('info').textContent = 'One C header, ' + withUnit($('wasm').textContent.length * 0.75, 'B', 2) +
        ' of WebAssembly here. A cage carries the surface of ' + paint.triangle.length / 3 + ' triangles.';
    requestAnimationFrame(now => { clock = since = now; tick(now); });

    /* for the console, and for tests */
    window.embipc = { module, state, camera, draw, pixelOf, numbers: () => [...numbersOf()], bodies: () => bodies,
                      text: () => textOf(module.web_text()), count: () => drawn };
}

document.addEventListener('DOMContentLoaded', () => start().catch(error => {
    say('The page could not begin: ' + error.message);
    throw error;
}));
