/* The viewer: what is shown, the camera, the picture of a moment, and the page around it. */

/* ==== The viewer =========================================================================== */

const KIND = { fixed: 'fixed', kinematic: 'driven', affine: 'affine', cage: 'in a cage', full: 'all nodes' };

function boxOf(bodies, box) {
    for (const b of bodies)
        for (let i = 0; i < b.x.length; i++) {
            box.low[i % 3] = Math.min(box.low[i % 3], b.x[i]);
            box.high[i % 3] = Math.max(box.high[i % 3], b.x[i]);
        }
    return box;
}
function grow(box, p) {
    for (let k = 0; k < 3; k++) {
        box.low[k] = Math.min(box.low[k], p[k]);
        box.high[k] = Math.max(box.high[k], p[k]);
    }
}
const emptyBox = () => ({ low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] });

/* The run and what is derived from it once. */
let scene, run, bodies, frameAt, pairs, plots;
let last, frameTime, end;             /* number of the last frame; s from frame to frame; s of the last */
let times, runEnd;                    /* s of each step, and of the last */
let subject, radius, floor = null;    /* what is looked at */

/* What is shown. at: in frames, not whole between them. */
const state = { at: 0, playing: false, speed: 1, loop: true, colour: 'body', cage: false, forces: false,
                marker: false, joints: true };
const camera = {}, scales = {}, arrows = makeArrows();
let r = null, canvas, style = {}, frame = null;   /* r: the renderer, null without WebGL; frame: decoded */
let matrix, eye;                                  /* of the picture being drawn */
let dirty = true, reshaped = true;                /* something, or the shape or colour of bodies, has changed */
let clock = 0, shownAt = -1, told = 0, drawn = 0, still = 0;   /* ms: last tick, last words, without a change */
let quality = 1, slow = 0, fine = false;          /* share of the pixels; slow pictures; more pixels, for edges */

function say(text) {
    $('message').textContent = text;
    $('message').hidden = false;
}

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

/* Where points are on the floor: along its axes u and v, and above it. */
const onFloor = (f, p) => { const q = sub(p, f.origin); return [dot(q, f.u), dot(q, f.v), dot(q, f.n)]; };
const fromFloor = (f, a, b) => along(along(f.origin, a, f.u), b, f.v);
const cornersOf = box =>
    [0, 1, 2, 3, 4, 5, 6, 7].map(c => [0, 1, 2].map(k => c >> k & 1 ? box.high[k] : box.low[k]));

/* A fixed body is the floor where its largest triangle looks up and is much wider than the subject at the start,
 * which stands over it. */
function findFloor(body) {
    const n = [0, 0, 0], x = body.x, tri = body.triangle, at = i => [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
    let best = 0, from = 0, up = null;
    for (let t = 0; t < tri.length; t += 3) {
        faceNormal(x, tri[t], tri[t + 1], tri[t + 2], n);
        if (norm(n) > best && n[2] > 0.3 * norm(n)) { best = norm(n); from = t; up = unit(n); }
    }
    if (!up) return;
    const v = unit(cross(up, [1, 0, 0])), f = { origin: at(tri[from]), n: up, v, u: cross(v, up), body };
    const mine = emptyBox(), theirs = emptyBox();
    for (const b of bodies.filter(b => b.moving || b === body))
        for (let i = 0; i < 3 * b.vertices; i += 3)
            grow(b === body ? mine : theirs, onFloor(f, b.x.subarray(i, i + 3)));
    const wide = k => mine.high[k] - mine.low[k] > 3 * (theirs.high[k] - theirs.low[k]);
    if (floor || theirs.low[2] < -0.02 * radius || mine.high[2] > 0.02 * radius || !wide(0) || !wide(1)) return;
    body.floor = true;
    floor = Object.assign(f, { low: mine.low.slice(0, 2), high: mine.high.slice(0, 2) });
}

/* ---- camera ---- */

const tangent = Math.tan(14 * Math.PI / 180);

function axes() {
    const back = [Math.cos(camera.pitch) * Math.cos(camera.yaw), Math.cos(camera.pitch) * Math.sin(camera.yaw),
                  Math.sin(camera.pitch)], right = [-Math.sin(camera.yaw), Math.cos(camera.yaw), 0];
    return { back, right, up: cross(back, right) };
}

/* So far away that the box of the subject just fits. */
function resetView() {
    camera.yaw = 0.4;
    camera.pitch = 0.34;
    camera.target = camera.fit.slice();
    const { back, right, up } = axes(), aspect = canvas.clientWidth / canvas.clientHeight || 1;
    camera.distance = 0;
    for (const corner of cornersOf(subject)) {
        const p = sub(corner, camera.target);
        const side = Math.max(Math.abs(dot(p, right)) / aspect, Math.abs(dot(p, up))) / (0.84 * tangent);
        camera.distance = Math.max(camera.distance, side + dot(p, back));
    }
    camera.moved = false;
    dirty = true;
}

function turn(dx, dy) {
    camera.yaw -= 0.008 * dx;
    camera.pitch = Math.min(1.55, Math.max(-1.55, camera.pitch + 0.008 * dy));
    camera.moved = dirty = true;
}

function pan(dx, dy) {
    const { right, up } = axes(), s = 2 * tangent * camera.distance / canvas.clientHeight;
    camera.target = along(along(camera.target, -s * dx, right), s * dy, up);
    camera.moved = dirty = true;
}

function zoom(factor) {
    camera.distance = Math.min(60 * radius, Math.max(0.02 * radius, camera.distance * factor));
    camera.moved = dirty = true;
}

const pointers = new Map();

function listenToPointers() {
    canvas.addEventListener('pointerdown', e => {
        canvas.setPointerCapture(e.pointerId);
        pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    });
    for (const type of ['pointerup', 'pointercancel'])
        canvas.addEventListener(type, e => pointers.delete(e.pointerId));
    canvas.addEventListener('pointermove', e => {
        const p = pointers.get(e.pointerId);
        if (!p) return;
        const dx = e.clientX - p.x, dy = e.clientY - p.y;
        if (pointers.size === 1) {
            if (e.shiftKey || e.buttons & 6) pan(dx, dy); else turn(dx, dy);
        } else if (pointers.size === 2) {   /* each finger has its half of the move; their distance is the zoom */
            const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
            const before = Math.hypot(p.x - other.x, p.y - other.y);
            const after = Math.hypot(e.clientX - other.x, e.clientY - other.y);
            if (after > 1) zoom(before / after);
            pan(dx / 2, dy / 2);
        }
        p.x = e.clientX;
        p.y = e.clientY;
    });
    canvas.addEventListener('wheel', e => {
        e.preventDefault();
        zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaMode ? 20 * e.deltaY : e.deltaY)) * 0.0022));
    }, { passive: false });
    canvas.addEventListener('contextmenu', e => e.preventDefault());
}

/* ---- drawing ---- */

/* Bodies laid flat into a small picture, blurred along x and then y; the floor takes its shadow from it. */
function drawShadow(middle, half) {
    const gl = r.gl, p = r.flat, [first, second] = r.shadow;
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.bindFramebuffer(gl.FRAMEBUFFER, first.frame);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(p.program);
    gl.uniform2f(p.middle, middle[0], middle[1]);
    gl.uniform1f(p.side, half);
    gl.uniform1f(p.height, 2 * radius);
    for (const key of ['origin', 'u', 'v', 'n']) gl.uniform3fv(p[key], floor[key]);
    const [lu, lv, ln] = [floor.u, floor.v, floor.n].map(axis => dot(axis, LIGHT));
    for (const red of [true, false]) {
        gl.colorMask(red, !red, false, false);
        gl.uniform2f(p.slant, red ? lu / ln : 0, red ? lv / ln : 0);
        if (!red) gl.enable(gl.DEPTH_TEST); else gl.disable(gl.DEPTH_TEST);
        for (const body of bodies) {
            if (!body.visible || body.floor) continue;
            bindMesh(r, p, body.mesh.points, null);
            gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, body.mesh.triangles);
            gl.drawElements(gl.TRIANGLES, body.mesh.count, body.mesh.type, 0);
        }
    }
    gl.colorMask(true, true, true, true);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(r.blur.program);
    bindAttribute(gl, r.blur.corner, r.corner, 2, gl.FLOAT, false, 8, 0);
    for (const [from, to, dx, dy] of [[first, second, 1, 0], [second, first, 0, 1]]) {
        gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
        gl.bindTexture(gl.TEXTURE_2D, from.texture);
        gl.uniform2f(r.blur.texel, dx / SHADOW, dy / SHADOW);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
}

/* Floor and grid fade into the paper, and end where the body does; made anew with the colours of the page. */
function buildFloor() {
    const [x, y] = onFloor(floor, camera.fit), cell = niceAbove(radius / 4), n = Math.ceil(4.6 * radius / cell);
    const left = d => {
        const t = Math.min(1, Math.max(0, (d / radius - 1.4) / 3.2));
        return 1 - t * t * (3 - 2 * t);
    };
    const within = (v, k) => Math.min(floor.high[k], Math.max(floor.low[k], v));
    const disc = [], grid = [], cuts = [0, 0.7, 1.4, 1.9, 2.4, 2.9, 3.4, 3.9, 4.6];
    const onDisc = (d, angle) => {
        const a = within(x + d * Math.cos(angle), 0), b = within(y + d * Math.sin(angle), 1);
        const share = left(Math.hypot(a - x, b - y));
        disc.push(...fromFloor(floor, a, b), ...style.paper.map((v, k) => v + share * (style.floor[k] - v)), 1);
    };
    for (let i = 0; i + 1 < cuts.length; i++)
        for (let a = 0; a <= 64; a++)
            for (const d of [cuts[i], cuts[i + 1]]) onDisc(d * radius, a * Math.PI / 32);
    const onGrid = (i, j) => {
        const a = within(x - x % cell + i * cell, 0), b = within(y - y % cell + j * cell, 1);
        grid.push(...fromFloor(floor, a, b), ...style.grid, 0.6 * left(1.1 * Math.hypot(a - x, b - y)));
    };
    for (let i = -n; i <= n; i++)
        for (let j = -n; j < n; j++) { onGrid(i, j); onGrid(i, j + 1); onGrid(j, i); onGrid(j + 1, i); }
    for (const [buffer, data, key] of [[r.floor, disc, 'floorCount'], [r.grid, grid, 'gridCount']]) {
        r.gl.bindBuffer(r.gl.ARRAY_BUFFER, buffer);
        r.gl.bufferData(r.gl.ARRAY_BUFFER, new Float32Array(data), r.gl.STATIC_DRAW);
        r[key] = data.length / 7;
    }
}

function drawShade(middle, half) {
    const gl = r.gl, p = r.shade;
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, matrix);
    for (const key of ['origin', 'u', 'v']) gl.uniform3fv(p[key], floor[key]);
    gl.uniform2fv(p.middle, middle);
    gl.uniform2fv(p.low, floor.low);
    gl.uniform2fv(p.high, floor.high);
    gl.uniform1f(p.side, half);
    gl.uniform1f(p.shade, style.shade);
    gl.bindTexture(gl.TEXTURE_2D, r.shadow[0].texture);
    bindAttribute(gl, p.corner, r.corner, 2, gl.FLOAT, false, 8, 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
}

/* Under everything else, and only from above: from below one looks through it. */
function drawFloor(middle, half) {
    const gl = r.gl, p = r.plain;
    if (onFloor(floor, eye)[2] <= 0) return;
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, matrix);
    if (floor.body) {
        bindAttribute(gl, p.position, r.floor, 3, gl.FLOAT, false, 28, 0);
        bindAttribute(gl, p.colour, r.floor, 4, gl.FLOAT, false, 28, 12);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, r.floorCount);
    }
    gl.enable(gl.BLEND);
    bindAttribute(gl, p.position, r.grid, 3, gl.FLOAT, false, 28, 0);
    bindAttribute(gl, p.colour, r.grid, 4, gl.FLOAT, false, 28, 12);
    gl.drawArrays(gl.LINES, 0, r.gridCount);
    if (floor.body) drawShade(middle, half);
    gl.disable(gl.BLEND);
}

function useSolid(p, alpha) {
    const gl = r.gl;
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, matrix);
    gl.uniform3fv(p.eye, eye);
    gl.uniform3fv(p.centre, camera.fit);
    gl.uniform3fv(p.light, LIGHT);
    gl.uniform3fv(p.paper, style.paper);
    gl.uniform1f(p.alpha, alpha);
    gl.uniform1f(p.radius, radius);
    gl.uniform4f(p.floor_, ...floor.n, floor.body ? dot(floor.n, floor.origin) : -1e9);
    gl.uniform1f(p.fade, 0);
}

/* The nearest first, so that hidden points are not lit; of closed surfaces only the outside. */
function drawBodies() {
    const gl = r.gl, shown = bodies.filter(b => b.visible && !b.floor);
    for (const body of shown) body.depth = norm(sub([body.x[0], body.x[1], body.x[2]], eye));
    for (const body of shown.sort((a, b) => a.depth - b.depth)) {
        const mesh = body.mesh, p = state.colour !== 'body' ? r.coloured : mesh.paint ? r.painted : r.solid;
        useSolid(p, 1);
        if (p !== r.solid) gl.bindTexture(gl.TEXTURE_2D, p === r.painted ? mesh.paint : r.ramp);
        if (body.kind === 'fixed' || body.kind === 'kinematic') gl.disable(gl.CULL_FACE);
        else gl.enable(gl.CULL_FACE);
        gl.uniform1f(p.fade, body.moving ? 0 : 1);
        bindMesh(r, p, mesh.points, mesh.colours);
        if (mesh.uv) bindAttribute(gl, p.uv, mesh.uv, 2, gl.FLOAT, false, 8, 0);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles);
        gl.drawElements(gl.TRIANGLES, mesh.count, mesh.type, 0);
        if (p.uv >= 0) gl.disableVertexAttribArray(p.uv);
    }
    gl.disable(gl.CULL_FACE);
}

/* Cages as lines: strong in front, weak where a surface hides them. */
function drawCages() {
    const gl = r.gl, p = r.plain, points = [];
    for (const body of bodies) {
        if (!body.visible || !body.moving) continue;
        for (const i of body.edges) points.push(body.q[3 * i], body.q[3 * i + 1], body.q[3 * i + 2]);
    }
    gl.useProgram(p.program);
    gl.uniformMatrix4fv(p.camera, false, matrix);
    bindAttribute(gl, p.position, r.line, 3, gl.FLOAT, false, 12, 0);
    gl.disableVertexAttribArray(p.colour);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(points), gl.DYNAMIC_DRAW);
    gl.enable(gl.BLEND);
    for (const hidden of [true, false]) {
        gl.depthFunc(hidden ? gl.GREATER : gl.LEQUAL);
        gl.vertexAttrib4f(p.colour, ...style.ink, hidden ? 0.16 : 0.75);
        gl.depthMask(false);
        gl.drawArrays(gl.LINES, 0, points.length / 3);
    }
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
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

/* Thin arrows are weak behind surfaces; thick ones and joints are laid over everything. */
function drawArrows(step) {
    const gl = r.gl;
    arrows.count = arrows.thin = 0;
    if (state.forces) buildArrows(step);
    if (state.joints) buildJoints();
    if (!arrows.count) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, r.arrow);
    gl.bufferData(gl.ARRAY_BUFFER, arrows.data.subarray(0, 7 * arrows.count), gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, r.arrowColour);
    gl.bufferData(gl.ARRAY_BUFFER, arrows.colour.subarray(0, 4 * arrows.count), gl.DYNAMIC_DRAW);
    gl.enable(gl.BLEND);
    gl.enable(gl.CULL_FACE);
    useSolid(r.solid, 1);
    bindMesh(r, r.solid, r.arrow, r.arrowColour);
    for (const [test, alpha, from, to] of [[gl.GREATER, 0.4, 0, arrows.thin], [gl.LEQUAL, 1, 0, arrows.thin],
                                           [gl.ALWAYS, 0.9, arrows.thin, arrows.count]]) {
        gl.depthFunc(test);
        gl.depthMask(false);
        gl.uniform1f(r.solid.alpha, alpha);
        gl.drawArrays(gl.TRIANGLES, from, to - from);
    }
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
}

/* A ring and the distance, laid over the picture: the points themselves are too near to be told apart. */
function showNearest(step) {
    const at = run.steps[step].nearest, box = $('nearest');
    box.hidden = !(state.marker && at);
    if (box.hidden) return;
    const p = [0, 1, 2].map(k => (at[k] + at[3 + k]) / 2), m = matrix;
    const row = k => m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k];
    const x = row(0) / row(3), y = row(1) / row(3);
    box.style.transform = 'translate(' + ((x + 1) / 2 * canvas.clientWidth).toFixed(1) + 'px,' +
                          ((1 - y) / 2 * canvas.clientHeight).toFixed(1) + 'px)';
    box.lastElementChild.textContent = withUnit(run.steps[step].distance, 'm');
}

function resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2) * (fine ? 2 : quality);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(v => Math.max(1, Math.round(v * ratio)));
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
}

function updateMeshes(k) {
    const scale = scaleOf(state.colour);
    bodies.forEach((body, i) => {
        if (!body.moving && !reshaped && state.colour !== 'pressure') return;
        if (scale) valuesOf(state.colour, k, body, i, body.mesh.value);
        updateMesh(r, body, scale);
    });
}

/* The picture of this moment. */
function draw() {
    const k = setBodies(state.at), step = run.frames[k].step;
    if (r && !r.gl.isContextLost()) {
        const gl = r.gl, moved = state.at !== shownAt || reshaped;
        resize();
        const { back, right, up } = axes();
        eye = along(camera.target, camera.distance, back);
        const reach = norm(sub(eye, camera.fit)) + 8 * radius;
        matrix = cameraMatrix(eye, right, up, back, tangent, canvas.width / canvas.height,
                              Math.max(0.004 * radius, camera.distance * 0.02), reach);
        if (moved) updateMeshes(k);
        const box = emptyBox();
        for (const c of cornersOf(boxOf(bodies.filter(b => b.moving || !floor.body), emptyBox())))
            grow(box, onFloor(floor, c));
        const middle = [0, 1].map(i => (box.low[i] + box.high[i]) / 2);
        const wide = [0, 1].map(i => box.high[i] - box.low[i]);
        const half = 0.75 * Math.hypot(wide[0], wide[1]) + 0.9 * Math.max(0, box.high[2]);
        if (floor.body && moved) drawShadow(middle, half);
        gl.viewport(0, 0, canvas.width, canvas.height);
        gl.clearColor(...style.paper, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.depthFunc(gl.LEQUAL);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        if (!floor.body || floor.body.visible) drawFloor(middle, half);
        gl.enable(gl.DEPTH_TEST);
        drawBodies();
        if (state.cage) drawCages();
        drawArrows(step);
        showNearest(step);
        shownAt = state.at;
        reshaped = false;
    }
    drawn++;
}

/* ---- the page around it ---- */

function colourOf(name) {
    const c = document.createElement('canvas').getContext('2d');
    c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [1, 3, 5].map(i => parseInt(c.fillStyle.slice(i, i + 2), 16) / 255);
}

/* The colours of the page, and what depends on them. */
function restyle() {
    const css = getComputedStyle(document.documentElement), named = name => css.getPropertyValue(name).trim();
    const paper = colourOf('--paper'), dark = paper[0] < 0.5;
    style = {
        paper, ink: colourOf('--ink'), line: named('--line'), quiet: named('--quiet'),
        floor: paper.map(v => dark ? v + 0.035 : v - 0.045), grid: paper.map(v => dark ? v + 0.13 : v - 0.17),
        shade: dark ? 1.1 : 1, force: dark ? [255, 120, 110, 255] : [176, 30, 45, 255],
        joint: dark ? [120, 200, 255, 255] : [20, 80, 170, 255]
    };
    for (const plot of plots) drawPlot(plot, times, runEnd, style);
    if (r) buildFloor();
    dirty = true;
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

/* Fewer pixels where the machine cannot draw thirty pictures a second. */
function adapt(gap) {
    slow = gap > (r && r.software ? 30 : 36) ? slow + 1 : Math.max(0, slow - 1);
    if (slow < 12 || quality < 0.5 || drawn < 30) return;
    quality *= 0.8;
    slow = 0;
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
