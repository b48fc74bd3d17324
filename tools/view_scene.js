/* What the pages share that show bodies: box and floor of what is seen, the camera that mouse and fingers move, and the
 * picture of bodies, shadow, cages and arrows. The viewer and the page of `make web` have it. */

/* ==== The picture of bodies ================================================================ */

/* A body here has x (vertices), triangle, vertices (their number), colour, kind, moving and visible. One that moves and
 * has a cage also has q (nodes) and edges. */
let bodies;
let subject, radius, floor = null;    /* what is looked at */
const camera = {}, arrows = makeArrows();
let r = null, canvas, style = {};     /* r: the renderer, null without WebGL */
let matrix, eye;                      /* of the picture being drawn */
let dirty = true, reshaped = true;    /* something, or the shape or colour of bodies, has changed */
let drawn = 0;                        /* pictures */
let quality = 1, slow = 0, fine = false;          /* share of the pixels; slow pictures; more pixels, for edges */

const $ = id => document.getElementById(id);

function say(text) {
    $('message').textContent = text;
    $('message').hidden = false;
}

/* ---- what is looked at ---- */

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
    [camera.yaw, camera.pitch] = camera.first || [0.4, 0.34];
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

/* One pointer turns, two move and zoom. hand: take(e) may answer that a first pointer holds something. Then it gets
 * move(e) until it is lifted or a second pointer comes, and then release(). Without hand, nothing can be held. */
function listenToPointers(hand) {
    let holder = null;
    const release = () => { if (holder !== null) hand.release(); holder = null; };
    canvas.addEventListener('pointerdown', e => {
        canvas.setPointerCapture(e.pointerId);
        release();
        if (hand && !pointers.size && !e.shiftKey && e.button === 0 && hand.take(e)) holder = e.pointerId;
        pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    });
    for (const type of ['pointerup', 'pointercancel'])
        canvas.addEventListener(type, e => {
            pointers.delete(e.pointerId);
            if (e.pointerId === holder) release();
        });
    canvas.addEventListener('pointermove', e => {
        const p = pointers.get(e.pointerId);
        if (!p) return;
        if (e.pointerId === holder) {
            p.x = e.clientX;
            p.y = e.clientY;
            return hand.move(e);
        }
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

/* The nearest first, so that hidden points are not lit; of closed surfaces only the outside. part: of a coloured
 * picture where there is a value (1, from both sides) or where there is none (-1); 0: all. */
function drawBodies(coloured, part) {
    const gl = r.gl, shown = bodies.filter(b => b.visible && !b.floor);
    for (const body of shown) body.depth = norm(sub([body.x[0], body.x[1], body.x[2]], eye));
    for (const body of shown.sort((a, b) => a.depth - b.depth)) {
        const mesh = body.mesh, p = coloured ? r.coloured : mesh.paint ? r.painted : r.solid;
        useSolid(p, part < 0 ? 0.22 : 1);
        if (coloured) gl.uniform1f(p.part, part);
        if (p !== r.solid) gl.bindTexture(gl.TEXTURE_2D, p === r.painted ? mesh.paint : r.ramp);
        if (body.kind === 'fixed' || body.kind === 'kinematic' || part > 0) gl.disable(gl.CULL_FACE);
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

/* Where there is no value, bodies are faded, so that values between them are seen. */
function drawFaded() {
    const gl = r.gl;
    drawBodies(true, 1);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    drawBodies(true, -1);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
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

/* Arrows and bars of the page. The first arrows.thin corners are weak behind surfaces, the others lie over all. */
function drawArrows() {
    const gl = r.gl;
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

function resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2) * (fine ? 2 : quality);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(v => Math.max(1, Math.round(v * ratio)));
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
}

/* The picture of this moment, in which `moved` says whether a body has. coloured: by values instead of their own
 * colours, 'faded' where there are none; over() draws what lies over them. */
function drawPicture(moved, coloured, over) {
    const gl = r.gl;
    resize();
    const { back, right, up } = axes();
    eye = along(camera.target, camera.distance, back);
    const reach = norm(sub(eye, camera.fit)) + 8 * radius;
    matrix = cameraMatrix(eye, right, up, back, tangent, canvas.width / canvas.height,
                          Math.max(0.004 * radius, camera.distance * 0.02), reach);
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
    if (coloured === 'faded') drawFaded(); else drawBodies(coloured, 0);
    over();
    reshaped = false;
}

/* Where a point is in the picture drawn last, pixels of the page from its upper left corner. */
function pixelOf(p) {
    const row = k => matrix[k] * p[0] + matrix[4 + k] * p[1] + matrix[8 + k] * p[2] + matrix[12 + k];
    return [(row(0) / row(3) + 1) / 2 * canvas.clientWidth, (1 - row(1) / row(3)) / 2 * canvas.clientHeight];
}

/* ---- colours and speed ---- */

function colourOf(name) {
    const c = document.createElement('canvas').getContext('2d');
    c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [1, 3, 5].map(i => parseInt(c.fillStyle.slice(i, i + 2), 16) / 255);
}

/* The colours of the page, and what depends on them. */
function readStyle() {
    const css = getComputedStyle(document.documentElement), named = name => css.getPropertyValue(name).trim();
    const paper = colourOf('--paper'), dark = paper[0] < 0.5;
    style = {
        paper, ink: colourOf('--ink'), line: named('--line'), quiet: named('--quiet'),
        floor: paper.map(v => dark ? v + 0.035 : v - 0.045), grid: paper.map(v => dark ? v + 0.13 : v - 0.17),
        shade: dark ? 1.1 : 1, force: dark ? [255, 120, 110, 255] : [176, 30, 45, 255],
        joint: dark ? [120, 200, 255, 255] : [20, 80, 170, 255]
    };
    if (r) buildFloor();
    dirty = true;
}

/* Fewer pixels where the machine cannot draw thirty pictures a second. */
function adapt(gap) {
    slow = gap > (r && r.software ? 30 : 36) ? slow + 1 : Math.max(0, slow - 1);
    if (slow < 12 || quality < 0.5 || drawn < 30) return;
    quality *= 0.8;
    slow = 0;
}
