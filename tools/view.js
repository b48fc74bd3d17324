/* Plays a run back. The page holds two scripts that are data: "scene", JSON, what holds for the whole run; and
 * "run", a line for each thing: s the numbers of a step, p the force of a pair, m the nearest points, f a frame.
 * view.c writes them and says what is in them. Lengths m, times s, forces N; z is up. */
(function () {
'use strict';

const $ = id => document.getElementById(id);

/* ==== 1. The run ============================================================================== */

function bytesOf(base64) {
    const raw = atob(base64), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}
const integersOf = base64 => new Uint32Array(bytesOf(base64).buffer);
const floatsOf = base64 => new Float32Array(bytesOf(base64).buffer);

function readBody(b) {
    const moving = b.kind !== 'fixed';
    return {
        name: b.name, kind: b.kind, moving, vertices: b.vertices, nodes: b.nodes, stored: b.stored === 1,
        colour: b.colour, paint: b.paint, tile: b.tile, across: b.across, visible: true,
        triangle: integersOf(b.triangle), tet: moving ? integersOf(b.tet) : new Uint32Array(0),
        node: moving ? integersOf(b.node) : null,         /* of each vertex: four with weights, or one */
        weight: b.weight ? floatsOf(b.weight) : null,
        x: b.x ? floatsOf(b.x) : new Float32Array(3 * b.vertices),
        q: new Float32Array(3 * b.nodes)
    };
}

const stepKeys = ['step', 'time', 'newton', 'factorizations', 'contacts', 'converged', 'distance', 'kinetic',
                  'elastic', 'barrier', 'potential'];

/* Steps and frames of the run; a last line without an end is of a run that was killed, and is left out. */
function readRun(text) {
    const run = { steps: [], frames: [], error: 0 };
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    let step = null;
    for (const line of lines) {
        const word = line.split(' ');
        if (word[0] === 's') {
            step = { pairs: [], nearest: null };
            stepKeys.forEach((key, i) => { step[key] = i + 1 < word.length ? parseFloat(word[i + 1]) : NaN; });
            run.steps.push(step);
        } else if (word[0] === 'p') {
            const n = word.slice(1).map(Number);
            step.pairs.push({ a: n[0], b: n[1], force: n.slice(2, 5), friction: n.slice(5, 8), at: n.slice(8, 11) });
        } else if (word[0] === 'm') step.nearest = word.slice(1).map(Number);
        else if (word[0] === 'f') {
            run.error = Math.max(run.error, parseFloat(word[1]));
            run.frames.push({ base64: word[2], step: run.steps.length - 1, time: step.time });
        }
    }
    return run;
}

/* Points as 16-bit numbers over their box. */
function readPoints(data, at, count, out) {
    if (!count) return at;
    for (let k = 0; k < 3; k++) {
        const low = data.getFloat32(at + 4 * k, true), unit = data.getFloat32(at + 12 + 4 * k, true);
        for (let i = k, p = at + 24 + 2 * k; i < 3 * count; i += 3, p += 6) out[i] = low + unit * data.getUint16(p, true);
    }
    return at + 24 + 6 * count;
}

function readForces(data, at, body, out) {
    const count = data.getUint32(at, true), wide = body.vertices > 65536;
    at += 4;
    if (!count) return at;
    const unit = data.getFloat32(at, true);
    at += 4;
    for (let i = 0; i < count; i++) {
        const vertex = wide ? data.getUint32(at, true) : data.getUint16(at, true);
        at += wide ? 4 : 2;
        for (let k = 0; k < 3; k++) out[3 * vertex + k] = unit * data.getInt16(at + 2 * k, true);
        at += 6;
    }
    return at;
}

/* What a frame says of each body: nodes, surface where it is stored, forces on vertices (null: none). */
function readFrame(base64, bodies) {
    const data = new DataView(bytesOf(base64).buffer);
    let at = 0;
    return bodies.map(body => {
        const f = { q: new Float32Array(3 * body.nodes), x: null, force: null };
        if (body.moving) at = readPoints(data, at, body.nodes, f.q);
        if (body.stored) {
            f.x = new Float32Array(3 * body.vertices);
            at = readPoints(data, at, body.vertices, f.x);
        }
        if (data.getUint32(at, true)) f.force = new Float32Array(3 * body.vertices);
        at = readForces(data, at, body, f.force);
        return f;
    });
}

/* Frames are decoded when they are looked at, and the latest 64 MB of them kept. */
function frameReader(run, bodies) {
    const kept = new Map(), size = bodies.reduce((n, b) => n + 12 * (b.nodes + b.vertices), 1000);
    const most = Math.max(4, Math.floor(64e6 / size));
    return k => {
        let frame = kept.get(k);
        if (!frame) {
            frame = readFrame(run.frames[k].base64, bodies);
            kept.set(k, frame);
            if (kept.size > most) kept.delete(kept.keys().next().value);
        }
        return frame;
    };
}

/* ==== 2. Bodies =============================================================================== */

/* Surface from nodes, x = J q: any value per node to the same per vertex; width numbers each. */
function embed(body, q, out, width) {
    const node = body.node, w = body.weight;
    for (let i = 0; i < body.vertices; i++)
        for (let k = 0; k < width; k++)
            out[width * i + k] = w
                ? w[4 * i] * q[width * node[4 * i] + k] + w[4 * i + 1] * q[width * node[4 * i + 1] + k] +
                  w[4 * i + 2] * q[width * node[4 * i + 2] + k] + w[4 * i + 3] * q[width * node[4 * i + 3] + k]
                : q[width * node[i] + k];
}

/* Twice the area of a triangle as a vector along its normal. */
function faceNormal(x, a, b, c, out) {
    a *= 3; b *= 3; c *= 3;
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    out[0] = uy * vz - uz * vy;
    out[1] = uz * vx - ux * vz;
    out[2] = ux * vy - uy * vx;
}

/* Corners of triangles, joined to points of one normal: those of a vertex whose triangles meet in an edge
 * that is not sharp. origin: the vertex of each point; index: the points of each triangle. */
function smoothPoints(x, triangle, vertices, sharpest) {
    const corners = triangle.length, normal = new Float32Array(corners), parent = new Int32Array(corners);
    const at = Array.from({ length: vertices }, () => []), n = [0, 0, 0];
    for (let t = 0; t < corners; t += 3) {
        faceNormal(x, triangle[t], triangle[t + 1], triangle[t + 2], n);
        const length = Math.hypot(n[0], n[1], n[2]) || 1;
        for (let k = 0; k < 3; k++) {
            normal[t + k] = n[k] / length;
            parent[t + k] = t + k;
            at[triangle[t + k]].push(t + k);
        }
    }
    const root = c => { while (parent[c] !== c) c = parent[c] = parent[parent[c]]; return c; };
    const others = c => { const t = c - c % 3; return [triangle[t + (c + 1) % 3], triangle[t + (c + 2) % 3]]; };
    for (const list of at)
        for (let i = 0; i < list.length; i++)
            for (let j = 0; j < i; j++) {
                const s = list[i] - list[i] % 3, t = list[j] - list[j] % 3, o = others(list[j]);
                const cosine = normal[s] * normal[t] + normal[s + 1] * normal[t + 1] + normal[s + 2] * normal[t + 2];
                if (cosine > sharpest && others(list[i]).some(v => o.includes(v))) parent[root(list[i])] = root(list[j]);
            }
    const number = new Int32Array(corners).fill(-1), index = new Uint32Array(corners), origin = [];
    for (let c = 0; c < corners; c++) {
        const r = root(c);
        if (number[r] < 0) { number[r] = origin.length; origin.push(triangle[c]); }
        index[c] = number[r];
    }
    return { origin: Uint32Array.from(origin), index };
}

/* The same for a body with paint, where each triangle has its own part of the picture: each corner is a point, with
 * the place in the picture in uv. normal: which of the joined points gives a point its normal. */
function paintedPoints(body, points) {
    const corners = points.index.length, { tile, across } = body, rows = Math.ceil(corners / 3 / across);
    const uv = new Float32Array(2 * corners);
    for (let c = 0; c < corners; c++) {
        const t = Math.floor(c / 3), k = c % 3;
        uv[2 * c] = (t % across * tile + 1.5 + (k === 1 ? tile - 3 : 0)) / (across * tile);
        uv[2 * c + 1] = (Math.floor(t / across) * tile + 1.5 + (k === 2 ? tile - 3 : 0)) / (rows * tile);
    }
    return { origin: body.triangle, index: Uint32Array.from({ length: corners }, (v, c) => c), normal: points.index, uv };
}

/* Each edge of the tets once. */
function tetEdges(tet) {
    const seen = new Set(), out = [];
    for (let t = 0; t < tet.length; t += 4)
        for (let i = 0; i < 4; i++)
            for (let j = 0; j < i; j++) {
                const a = Math.min(tet[t + i], tet[t + j]), b = Math.max(tet[t + i], tet[t + j]);
                const key = a * 67108864 + b;
                if (!seen.has(key)) { seen.add(key); out.push(a, b); }
            }
    return Uint32Array.from(out);
}

/* Inverse of the edge matrix of each tet at rest, row-major, and six times its volume: ten numbers. */
function restTets(body, q) {
    const out = new Float32Array(10 * body.tet.length / 4);
    for (let t = 0, o = 0; t < body.tet.length; t += 4, o += 10) {
        const p = [0, 1, 2, 3].map(k => 3 * body.tet[t + k]), e = [];
        for (let r = 0; r < 3; r++) for (let c = 1; c < 4; c++) e.push(q[p[c] + r] - q[p[0] + r]);
        const [a, b, c, d, f, g, h, i, j] = e, A = f * j - g * i, B = g * h - d * j, C = d * i - f * h;
        const det = a * A + b * B + c * C;
        out.set([A, c * i - b * j, b * g - c * f, B, a * j - c * h, c * d - a * g, C, b * h - a * i, a * f - b * d]
            .map(v => v / det), o);
        out[o + 9] = Math.abs(det);
    }
    return out;
}

/* Norm of Green's strain E = (F^T F - I)/2 of one tet. */
function tetStrain(body, q, t) {
    const tet = body.tet, R = body.rest, o = 10 * t, F = [];
    const p = 3 * tet[4 * t], p1 = 3 * tet[4 * t + 1], p2 = 3 * tet[4 * t + 2], p3 = 3 * tet[4 * t + 3];
    for (let r = 0; r < 3; r++) {
        const u = q[p1 + r] - q[p + r], v = q[p2 + r] - q[p + r], w = q[p3 + r] - q[p + r];
        for (let c = 0; c < 3; c++) F.push(u * R[o + c] + v * R[o + 3 + c] + w * R[o + 6 + c]);
    }
    let sum = 0;
    for (let i = 0; i < 3; i++)
        for (let j = 0; j < 3; j++) {
            const e = (F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j] - (i === j ? 1 : 0)) / 2;
            sum += e * e;
        }
    return Math.sqrt(sum);
}

/* ---- What bodies are coloured by: a value per vertex ---- */

function strainOf(body, frame, out) {
    if (!body.moving || body.kind === 'kinematic') return out.fill(0);
    const sum = new Float32Array(body.nodes), volume = new Float32Array(body.nodes);
    for (let t = 0; t < body.tet.length / 4; t++) {
        const v = body.rest[10 * t + 9], e = v * tetStrain(body, frame.q, t);
        for (let k = 0; k < 4; k++) { sum[body.tet[4 * t + k]] += e; volume[body.tet[4 * t + k]] += v; }
    }
    for (let i = 0; i < body.nodes; i++) sum[i] /= volume[i] || 1;
    embed(body, sum, out, 1);
}

function speedOf(body, frame, before, dt, out) {
    if (!body.moving) return out.fill(0);
    const u = new Float32Array(3 * body.nodes), v = new Float32Array(3 * body.vertices);
    for (let i = 0; i < u.length; i++) u[i] = (frame.q[i] - before.q[i]) / dt;
    embed(body, u, v, 3);
    for (let i = 0; i < body.vertices; i++) out[i] = Math.hypot(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
}

/* Force inward over the third of the area around a vertex; both from the surface x. */
function pressureOf(body, frame, x, out) {
    out.fill(0);
    if (!frame.force) return;
    const sum = new Float32Array(3 * body.vertices), area = new Float32Array(body.vertices), n = [0, 0, 0];
    for (let t = 0; t < body.triangle.length; t += 3) {
        faceNormal(x, body.triangle[t], body.triangle[t + 1], body.triangle[t + 2], n);
        const a = Math.hypot(n[0], n[1], n[2]) / 6;
        for (let k = 0; k < 3; k++) {
            const v = body.triangle[t + k];
            area[v] += a;
            for (let c = 0; c < 3; c++) sum[3 * v + c] += n[c];
        }
    }
    for (let i = 0, p = 0; i < body.vertices; i++, p += 3) {
        const f = frame.force, length = Math.hypot(sum[p], sum[p + 1], sum[p + 2]) || 1;
        const inward = -(f[p] * sum[p] + f[p + 1] * sum[p + 1] + f[p + 2] * sum[p + 2]) / length;
        out[i] = Math.max(0, inward) / (area[i] || 1);
    }
}

/* ==== 3. Numbers as text ====================================================================== */

function withUnit(value, unit, digits) {
    if (!isFinite(value)) return '–';
    if (value === 0) return '0 ' + unit;
    const power = Math.max(-4, Math.min(3, Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-9)));
    const prefix = unit ? ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G'][power + 4] : '';
    const scaled = unit ? value / Math.pow(1000, power) : value;
    return String(Number(scaled.toPrecision(digits || 3))) + ' ' + prefix + unit;
}

/* The next round number: of `steps` times powers of ten. */
function niceAbove(value, steps) {
    const power = Math.pow(10, Math.floor(Math.log10(value)));
    for (const m of steps || [1, 2, 5]) if (m * power >= value * (1 - 1e-9)) return m * power;
    return 10 * power;
}
const FINE_STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8], EVEN_STEPS = [1, 2, 4, 6, 8];

/* ==== 4. Vectors and matrices (columns first, as WebGL has them) =============================== */

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a, s, b) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const unit = a => { const n = Math.hypot(a[0], a[1], a[2]) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };

/* Projection times view, from the axes of a camera. */
function cameraMatrix(eye, right, up, back, tangent, aspect, near, far) {
    const f = 1 / tangent, A = (far + near) / (near - far), B = 2 * far * near / (near - far);
    const m = new Float32Array(16), rows = [right, up, back].map(r => [r[0], r[1], r[2], -dot(r, eye)]);
    for (let c = 0; c < 4; c++) {
        m[4 * c] = f / aspect * rows[0][c];
        m[4 * c + 1] = f * rows[1][c];
        m[4 * c + 2] = A * rows[2][c] + (c === 3 ? B : 0);
        m[4 * c + 3] = -rows[2][c];
    }
    return m;
}

/* ==== 5. WebGL ================================================================================ */

const LIGHT = unit([0.55, -0.45, 1.15]);          /* towards the key light */

/* Colours of values: calm grey for nothing, then the hotter the more. */
const RAMP = [[0.72, 0.74, 0.76], [0.97, 0.84, 0.50], [0.95, 0.58, 0.24], [0.80, 0.22, 0.24], [0.42, 0.06, 0.30]];

const solidVertex = `
attribute vec3 position, normal, colour;
attribute vec2 uv;
attribute float value;
uniform mat4 camera;
uniform vec3 eye, centre;
uniform vec4 floor_;
uniform float radius;
varying vec3 toEye, n, c, out_;
varying vec2 at;
varying float v, floorLight;
void main() {
    at = uv;
    toEye = eye - position;
    n = normal;
    c = colour;
    v = 0.998 * value + 0.001;
    floorLight = 1.0 - 0.75 * exp(-max(0.0, dot(floor_.xyz, position) - floor_.w) / (0.22 * radius));
    out_ = (position - centre) / radius;
    gl_Position = camera * vec4(position, 1.0);
}`;

/* Key light, a sky above and the floor's light from below; squares and roots stand for sRGB. */
const solidFragment = `
precision mediump float;
varying vec3 toEye, n, c, out_;
varying vec2 at;
varying float v, floorLight;
uniform vec3 light, paper;
uniform float alpha, fade;
uniform sampler2D source;
void main() {
    vec3 N = normalize(gl_FrontFacing ? n : -n), V = normalize(toEye), H = normalize(light + V), base = c;
#ifdef COLOURED
    base = 0.93 * texture2D(source, vec2(v, 0.5)).rgb;
#endif
#ifdef PAINTED
    base = texture2D(source, at).rgb;
#endif
    float sky = 0.5 + 0.5 * N.z, shine = max(0.0, dot(N, H)), rim = 1.0 - max(0.0, dot(N, V));
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;
    rim *= rim;
    vec3 around = mix(vec3(0.24, 0.22, 0.21) * floorLight, vec3(0.50, 0.53, 0.57), sky);
    vec3 seen = sqrt(base * base * (0.78 * max(0.0, dot(N, light)) + around) + 0.09 * shine + 0.05 * rim * rim);
    gl_FragColor = vec4(mix(seen, paper, fade * smoothstep(2.5, 6.0, length(out_))), alpha);
}`;

/* Floor, grid and cages: each point with its own colour. */
const plainVertex = `
attribute vec3 position;
attribute vec4 colour;
uniform mat4 camera;
varying vec4 c;
void main() { c = colour; gl_Position = camera * vec4(position, 1.0); }`;
const plainFragment = `
precision mediump float;
varying vec4 c;
void main() { gl_FragColor = c; }`;

/* The bodies laid flat on the floor: red along the key light, green straight down, weaker from higher up. slant: how
 * far the light moves along the floor for each metre of height. */
const flatVertex = `
attribute vec3 position;
uniform vec3 origin, u, v, n;
uniform vec2 middle, slant;
uniform float side, height;
varying float h;
void main() {
    vec3 p = position - origin;
    float up = max(0.0, dot(p, n));
    h = up / height;
    gl_Position = vec4((vec2(dot(p, u), dot(p, v)) - slant * up - middle) / side, 2.0 * min(h, 1.0) - 1.0, 1.0);
}`;
const flatFragment = `
precision mediump float;
varying float h;
void main() { gl_FragColor = vec4(1.0, exp(-9.0 * h), 0.0, 1.0); }`;

const shadeVertex = `
attribute vec2 corner;
uniform mat4 camera;
uniform vec3 origin, u, v;
uniform vec2 middle, low, high;
uniform float side;
varying vec2 at;
void main() {
    vec2 p = clamp(middle + side * corner, low, high);
    at = 0.5 * (p - middle) / side + 0.5;
    gl_Position = camera * vec4(origin + p.x * u + p.y * v, 1.0);
}`;
const shadeFragment = `
precision mediump float;
varying vec2 at;
uniform float shade;
uniform sampler2D source;
void main() {
    vec2 s = texture2D(source, at).rg;
    gl_FragColor = vec4(0.0, 0.0, 0.0, shade * (1.0 - (1.0 - 0.40 * s.r) * (1.0 - 0.5 * s.g)));
}`;

const blurVertex = `
attribute vec2 corner;
varying vec2 at;
void main() { at = 0.5 * corner + 0.5; gl_Position = vec4(corner, 0.0, 1.0); }`;
/* Red over fewer texels than green; each look between two texels sees both. */
const blurFragment = `
precision mediump float;
varying vec2 at;
uniform vec2 texel;
uniform sampler2D source;
void main() {
    vec2 one = texture2D(source, at + 1.4 * texel).rg + texture2D(source, at - 1.4 * texel).rg;
    vec2 two = texture2D(source, at + 3.3 * texel).rg + texture2D(source, at - 3.3 * texel).rg;
    vec2 sum = vec2(0.44, 0.26) * texture2D(source, at).rg + vec2(0.26, 0.23) * one + vec2(0.02, 0.14) * two;
    gl_FragColor = vec4(sum, 0.0, 1.0);
}`;

/* Compiles a program; its attributes and uniforms come as its properties. */
function makeProgram(gl, vertex, fragment) {
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, text.trim());
        gl.compileShader(shader);
        gl.attachShader(program, shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
            throw new Error('shader: ' + gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(program);
    const out = { program };
    for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) - 1; i >= 0; i--) {
        const name = gl.getActiveUniform(program, i).name;
        out[name] = gl.getUniformLocation(program, name);
    }
    for (let i = gl.getProgramParameter(program, gl.ACTIVE_ATTRIBUTES) - 1; i >= 0; i--) {
        const name = gl.getActiveAttrib(program, i).name;
        out[name] = gl.getAttribLocation(program, name);
    }
    return out;
}

function makeTexture(gl, width, height, data) {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, data);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const size of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, size, gl.LINEAR);
    return texture;
}

function rampAt(t) {
    const at = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(at), RAMP.length - 2);
    return RAMP[i].map((c, k) => c + (at - i) * (RAMP[i + 1][k] - c));
}

function makeTarget(gl, size, depth) {
    const texture = makeTexture(gl, size, size, null), frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    if (depth) {
        const buffer = gl.createRenderbuffer();
        gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
        gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, size, size);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, buffer);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, frame };
}

const SHADOW = 128;       /* pixels a side of the floor's shadow */

/* Is WebGL drawn by the processor? Then edges are smoothed only while the picture stands still. */
function isSoftware() {
    const gl = document.createElement('canvas').getContext('webgl'), name = gl && gl.getExtension('WEBGL_debug_renderer_info');
    return /swiftshader|llvmpipe|softpipe|software|basic render/i
        .test(gl ? gl.getParameter(name ? name.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : '');
}

function makeRenderer(canvas) {
    const software = isSoftware();
    const gl = canvas.getContext('webgl', { antialias: !software, alpha: false, powerPreference: 'high-performance' });
    if (!gl) return null;
    const fine = gl.getExtension('OES_element_index_uint') !== null;
    const ramp = new Uint8Array(4 * 256);
    for (let i = 0; i < 256; i++) ramp.set(rampAt(i / 255).map(c => 255 * c).concat(255), 4 * i);
    const corner = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corner);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    return {
        gl, fine, software, corner, line: gl.createBuffer(), arrow: gl.createBuffer(), arrowColour: gl.createBuffer(),
        floor: gl.createBuffer(), grid: gl.createBuffer(), ramp: makeTexture(gl, 256, 1, ramp),
        solid: makeProgram(gl, solidVertex, solidFragment),
        coloured: makeProgram(gl, solidVertex, '#define COLOURED\n' + solidFragment),
        painted: makeProgram(gl, solidVertex, '#define PAINTED\n' + solidFragment),
        plain: makeProgram(gl, plainVertex, plainFragment), flat: makeProgram(gl, flatVertex, flatFragment),
        blur: makeProgram(gl, blurVertex, blurFragment), shade: makeProgram(gl, shadeVertex, shadeFragment),
        shadow: [makeTarget(gl, SHADOW, true), makeTarget(gl, SHADOW, false)]
    };
}

/* The picture of a body's paint; one colour until the browser has unpacked it. */
function paintTexture(gl, body, ready) {
    const texture = makeTexture(gl, 1, 1, Uint8Array.from(body.colour.map(c => 255 * c).concat(255)));
    const image = new Image();
    image.onload = () => {
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, image);
        ready();
    };
    image.src = 'data:image/png;base64,' + body.paint;
    return texture;
}

/* The part of a body that the graphics card holds; ready() is called when more of it has come. */
function makeMesh(r, body, ready) {
    const gl = r.gl, joined = smoothPoints(body.x, body.triangle, body.vertices, Math.cos(50 * Math.PI / 180));
    const points = body.paint ? paintedPoints(body, joined) : joined;
    const count = points.origin.length, wide = count > 65536, colour = new Uint8Array(4 * count);
    if (wide && !r.fine) throw new Error('"' + body.name + '" has more vertices than this browser can draw');
    for (let i = 0; i < 4 * count; i++) colour[i] = i % 4 < 3 ? Math.round(255 * body.colour[i % 4]) : 255;
    const mesh = {
        origin: points.origin, index: joined.index, normalOf: points.normal || null,
        normal: new Float32Array(3 * joined.origin.length), data: new Float32Array(7 * count), count: points.index.length,
        type: wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT, points: gl.createBuffer(), colours: gl.createBuffer(),
        triangles: gl.createBuffer(), uv: null, paint: null, value: new Float32Array(body.vertices)
    };
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.colours);
    gl.bufferData(gl.ARRAY_BUFFER, colour, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, wide ? points.index : new Uint16Array(points.index), gl.STATIC_DRAW);
    if (!body.paint) return mesh;
    mesh.uv = gl.createBuffer();
    mesh.paint = paintTexture(gl, body, ready);
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.uv);
    gl.bufferData(gl.ARRAY_BUFFER, points.uv, gl.STATIC_DRAW);
    return mesh;
}

/* Sums of the normals of the triangles at each joined point, to length 1: tiny triangles have tiny normals. */
function updateNormals(body) {
    const { normal, index } = body.mesh, tri = body.triangle, n = [0, 0, 0];
    normal.fill(0);
    for (let t = 0; t < index.length; t += 3) {
        faceNormal(body.x, tri[t], tri[t + 1], tri[t + 2], n);
        for (let k = 0; k < 3; k++) {
            const p = 3 * index[t + k];
            normal[p] += n[0]; normal[p + 1] += n[1]; normal[p + 2] += n[2];
        }
    }
    for (let p = 0; p < normal.length; p += 3) {
        const s = 1 / (Math.hypot(normal[p], normal[p + 1], normal[p + 2]) || 1);
        normal[p] *= s; normal[p + 1] *= s; normal[p + 2] *= s;
    }
}

/* Positions, normals and values (0 to 1) of a body to its buffer. */
function updateMesh(r, body, scale) {
    const { data, origin, normal, normalOf, value } = body.mesh, x = body.x;
    updateNormals(body);
    for (let i = 0, p = 0; p < data.length; i++, p += 7) {
        const o = 3 * origin[i], n = 3 * (normalOf ? normalOf[i] : i);
        data[p] = x[o]; data[p + 1] = x[o + 1]; data[p + 2] = x[o + 2];
        data[p + 3] = normal[n]; data[p + 4] = normal[n + 1]; data[p + 5] = normal[n + 2];
        data[p + 6] = scale ? Math.min(1, value[origin[i]] / scale) : 0;
    }
    r.gl.bindBuffer(r.gl.ARRAY_BUFFER, body.mesh.points);
    r.gl.bufferData(r.gl.ARRAY_BUFFER, data, r.gl.DYNAMIC_DRAW);
}

function bindAttribute(gl, location, buffer, size, type, normalised, stride, offset) {
    if (location === undefined || location < 0) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalised, stride, offset);
}

function bindMesh(r, program, points, colours) {
    const gl = r.gl;
    bindAttribute(gl, program.position, points, 3, gl.FLOAT, false, 28, 0);
    bindAttribute(gl, program.normal, points, 3, gl.FLOAT, false, 28, 12);
    bindAttribute(gl, program.value, points, 1, gl.FLOAT, false, 28, 24);
    if (colours) bindAttribute(gl, program.colour, colours, 3, gl.UNSIGNED_BYTE, true, 4, 0);
}

/* ==== 6. Arrows =============================================================================== */

const ARROW_SIDES = 6;

/* Many arrows as one mesh that grows. */
function makeArrows() { return { data: new Float32Array(7 * 4096), colour: new Uint8Array(4 * 4096), count: 0 }; }

function arrowCorner(arrows, p, n, colour) {
    if (7 * (arrows.count + 1) > arrows.data.length) {
        const data = new Float32Array(2 * arrows.data.length), c = new Uint8Array(2 * arrows.colour.length);
        data.set(arrows.data);
        c.set(arrows.colour);
        arrows.data = data;
        arrows.colour = c;
    }
    arrows.data.set(p, 7 * arrows.count);
    arrows.data.set(n, 7 * arrows.count + 3);
    arrows.colour.set(colour, 4 * arrows.count++);
}

/* From tail to tip; width is the radius of the shaft. */
function addArrow(arrows, tail, tip, width, colour) {
    const axis = unit(sub(tip, tail)), length = Math.hypot(...sub(tip, tail));
    const u = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), v = cross(axis, u);
    const head = Math.min(0.45 * length, 6 * width), neck = along(tip, -head, axis), ring = [];
    for (let i = 0; i <= ARROW_SIDES; i++) {
        const a = 2 * Math.PI * i / ARROW_SIDES;
        ring.push(along(along([0, 0, 0], Math.cos(a), u), Math.sin(a), v));
    }
    for (let i = 0; i < ARROW_SIDES; i++) {
        const a = ring[i], b = ring[i + 1], wide = Math.min(2.6 * width, 0.5 * head);
        const at = (p, r, s) => along(p, s, r);
        for (const [p, r, s] of [[tail, a, width], [tail, b, width], [neck, b, width],
                                 [tail, a, width], [neck, b, width], [neck, a, width]])
            arrowCorner(arrows, at(p, r, s), r, colour);
        for (const [p, r, s] of [[neck, a, wide], [neck, b, wide], [tip, b, 0]]) arrowCorner(arrows, at(p, r, s), r, colour);
        for (const [p, r, s] of [[neck, b, wide], [neck, a, wide], [neck, a, 0]])
            arrowCorner(arrows, at(p, r, s), [-axis[0], -axis[1], -axis[2]], colour);
    }
}

/* ==== 7. Plots ================================================================================ */

/* Colours of lines that stay apart on light and on dark paper. */
const LINES = ['#2f7fbf', '#d9772b', '#3f9b62', '#b8508c'];
const SPARE_LINES = ['#3f9b62', '#b8508c', '#8067c4', '#a68a1e', '#2b9aa0', '#8d6a52'];
const MOST_LINES = 6;                             /* in a plot; the others are drawn without a name */

const norm = v => Math.hypot(v[0], v[1], v[2]);

/* Forces of each pair of bodies over all steps, the strongest first. */
function pairSeries(run, bodies) {
    const pairs = new Map();
    run.steps.forEach((step, i) => step.pairs.forEach(p => {
        const key = p.a + ' ' + p.b;
        if (!pairs.has(key)) {
            const series = () => new Float64Array(run.steps.length).fill(i ? 0 : NaN);
            pairs.set(key, { key, name: bodies[p.a].name + ' – ' + bodies[p.b].name, force: series(), friction: series(),
                             most: 0 });
        }
        const pair = pairs.get(key);
        pair.force[i] = norm(p.force);
        pair.friction[i] = norm(p.friction);
        pair.most = Math.max(pair.most, pair.force[i]);
    }));
    const list = [...pairs.values()].sort((a, b) => b.most - a.most);
    list.forEach((pair, i) => { pair.colour = i < MOST_LINES ? pairColour(pair, bodies, list.slice(0, i)) : '#8a9298'; });
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
    for (let d = Math.floor(plot.low); d <= plot.high; d++)
        for (const m of plot.high - plot.low < 0.7 ? [1, 1.5, 2, 3, 4, 6, 8] : plot.high - plot.low < 1.6 ? [1, 2, 5] : [1]) {
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

/* ==== 8. The viewer =========================================================================== */

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
    for (let k = 0; k < 3; k++) { box.low[k] = Math.min(box.low[k], p[k]); box.high[k] = Math.max(box.high[k], p[k]); }
}
const emptyBox = () => ({ low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] });

function start() {
    const scene = JSON.parse($('scene').textContent), run = readRun($('run').textContent);
    const bodies = scene.bodies.map(readBody), frameAt = frameReader(run, bodies), last = run.frames.length - 1;
    const frameTime = scene.time_step * scene.every, end = run.frames[last].time || 1;
    const times = run.steps.map(s => s.time), runEnd = times[times.length - 1] || 1;
    const pairs = pairSeries(run, bodies), plots = listPlots(run, pairs);
    const canvas = $('picture'), calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const state = { at: 0, playing: false, speed: 1, loop: true, colour: 'body', cage: false, forces: false,
                    marker: false };   /* at: in frames, not whole between them */
    const scales = {}, arrows = makeArrows(), camera = {};
    let style = {}, frame = null, dirty = true, reshaped = true, clock = 0, shownAt = -1, told = 0, drawn = 0;
    let subject, radius, floor = null, quality = 1, slow = 0, matrix, eye, fine = false, still = 0;
    const r = makeRenderer(canvas);

    function say(text) { $('message').textContent = text; $('message').hidden = false; }
    if (!r) say('This browser cannot draw the picture: it has no WebGL, or WebGL is switched off. The plots work.');
    canvas.addEventListener('webglcontextlost', () => say('The picture was lost by the graphics driver; load the page again.'));

    /* ---- where the bodies are ---- */

    function setBodies(at) {
        const k = Math.min(Math.floor(at), last), a = at - k, now = frameAt(k), next = a > 0 ? frameAt(k + 1) : now;
        frame = now;
        bodies.forEach((body, i) => {
            if (!body.moving) return;
            for (let p = 0; p < body.q.length; p++) body.q[p] = now[i].q[p] + a * (next[i].q[p] - now[i].q[p]);
            if (!body.stored) embed(body, body.q, body.x, 3);
            else for (let p = 0; p < body.x.length; p++) body.x[p] = now[i].x[p] + a * (next[i].x[p] - now[i].x[p]);
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
    const cornersOf = box => [0, 1, 2, 3, 4, 5, 6, 7].map(c => [0, 1, 2].map(k => c >> k & 1 ? box.high[k] : box.low[k]));

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
        for (let i = 0; i < body.vertices; i++) grow(mine, onFloor(f, at(i)));
        for (const b of bodies.filter(b => b.moving))
            for (let i = 0; i < b.vertices; i++) grow(theirs, onFloor(f, [b.x[3 * i], b.x[3 * i + 1], b.x[3 * i + 2]]));
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
    canvas.addEventListener('pointerdown', e => {
        canvas.setPointerCapture(e.pointerId);
        pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    });
    for (const type of ['pointerup', 'pointercancel']) canvas.addEventListener(type, e => pointers.delete(e.pointerId));
    canvas.addEventListener('pointermove', e => {
        const p = pointers.get(e.pointerId);
        if (!p) return;
        const dx = e.clientX - p.x, dy = e.clientY - p.y;
        if (pointers.size === 1) {
            if (e.shiftKey || e.buttons & 6) pan(dx, dy); else turn(dx, dy);
        } else if (pointers.size === 2) {   /* each finger has its half of the move; their distance is the zoom */
            const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
            const before = Math.hypot(p.x - other.x, p.y - other.y), after = Math.hypot(e.clientX - other.x, e.clientY - other.y);
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
        const left = d => { const t = Math.min(1, Math.max(0, (d / radius - 1.4) / 3.2)); return 1 - t * t * (3 - 2 * t); };
        const within = (v, k) => Math.min(floor.high[k], Math.max(floor.low[k], v));
        const disc = [], grid = [], cuts = [0, 0.7, 1.4, 1.9, 2.4, 2.9, 3.4, 3.9, 4.6];
        const onDisc = (d, angle) => {
            const a = within(x + d * Math.cos(angle), 0), b = within(y + d * Math.sin(angle), 1), share = left(Math.hypot(a - x, b - y));
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
        for (const [key, value] of [['middle', middle], ['low', floor.low], ['high', floor.high]]) gl.uniform2fv(p[key], value);
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
            if (body.kind === 'fixed' || body.kind === 'kinematic') gl.disable(gl.CULL_FACE); else gl.enable(gl.CULL_FACE);
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
        arrows.count = 0;
        bodies.forEach((body, i) => {
            const f = frame[i].force, x = body.x;
            if (!body.visible || !body.moving || !f) return;
            for (let p = 0; p < f.length; p += 3) {
                const size = Math.hypot(f[p], f[p + 1], f[p + 2]), length = 0.13 * radius * Math.sqrt(size / scale.vertex);
                if (length < 0.008 * radius) continue;
                const tip = [x[p], x[p + 1], x[p + 2]];
                addArrow(arrows, along(tip, -length / size, [f[p], f[p + 1], f[p + 2]]), tip, 0.0022 * radius, style.force);
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

    /* Thin arrows are weak behind surfaces; thick ones are laid over everything. */
    function drawArrows(step) {
        const gl = r.gl;
        buildArrows(step);
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
        const w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
        const x = (m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]) / w, y = (m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13]) / w;
        box.style.transform = 'translate(' + ((x + 1) / 2 * canvas.clientWidth).toFixed(1) + 'px,' +
                              ((1 - y) / 2 * canvas.clientHeight).toFixed(1) + 'px)';
        box.lastElementChild.textContent = withUnit(run.steps[step].distance, 'm');
    }

    function resize() {
        const ratio = Math.min(devicePixelRatio || 1, 2) * (fine ? 2 : quality);
        const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
        if (canvas.width === width && canvas.height === height) return;
        canvas.width = width;
        canvas.height = height;
        if (!camera.moved) resetView();
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
            for (const c of cornersOf(boxOf(bodies.filter(b => b.moving || !floor.body), emptyBox()))) grow(box, onFloor(floor, c));
            const middle = [0, 1].map(i => (box.low[i] + box.high[i]) / 2);
            const half = 0.75 * Math.hypot(box.high[0] - box.low[0], box.high[1] - box.low[1]) + 0.9 * Math.max(0, box.high[2]);
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
            if (state.forces) drawArrows(step);
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
        const css = getComputedStyle(document.documentElement), paper = colourOf('--paper'), dark = paper[0] < 0.5;
        style = {
            paper, ink: colourOf('--ink'), line: css.getPropertyValue('--line').trim(), quiet: css.getPropertyValue('--quiet').trim(),
            floor: paper.map(v => dark ? v + 0.035 : v - 0.045), grid: paper.map(v => dark ? v + 0.13 : v - 0.17),
            shade: dark ? 1.1 : 1, force: dark ? [255, 120, 110, 255] : [176, 30, 45, 255]
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
        $('clock').textContent = time.toFixed(frameTime < 0.01 ? 3 : 2) + ' of ' + Number(end.toPrecision(4)) + ' s, step ' +
                                 run.steps[f.step].step;
        $('scrub').value = k;
        $('scrub').setAttribute('aria-valuetext', time.toFixed(2) + ' seconds');
        for (const plot of plots) showInPlot(plot, f.step, time / runEnd);
    }

    function setPlaying(on) {
        if (on && state.at >= last) state.at = 0;
        state.playing = on && last > 0;
        if (!on) state.at = Math.round(state.at);   /* paused, the picture is a frame */
        $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
        $('play').querySelector('path').setAttribute('d', state.playing ? 'M6 4h4v16H6zM14 4h4v16h-4z' : 'M6 4l14 8-14 8z');
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
        ends.lastElementChild.textContent = withUnit(scaleOf(kind), { strain: '', speed: 'm/s', pressure: 'Pa' }[kind]);
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
        ArrowRight: () => seek(Math.floor(state.at) + 1), ArrowUp: () => changeSpeed(1), ArrowDown: () => changeSpeed(-1),
        Home: () => seek(0), End: () => seek(last), c: () => toggle('cage'), f: () => toggle('forces'),
        m: () => toggle('marker'), l: () => toggle('loop'), r: resetView
    };
    addEventListener('keydown', e => {
        const at = e.target.tagName, digit = '123456789'.indexOf(e.key);
        if (e.ctrlKey || e.metaKey || e.altKey || at === 'SELECT' || (e.key === ' ' && /BUTTON|SUMMARY/.test(at))) return;
        if (at === 'INPUT' && e.target.type === 'checkbox' && e.key === ' ') return;
        if (keys[e.key]) { keys[e.key](); e.preventDefault(); }
        else if (digit >= 0 && bodies[digit]) setVisible(bodies[digit], !bodies[digit].visible);
    });

    function buildControls() {
        $('play').addEventListener('click', () => setPlaying(!state.playing));
        $('scrub').max = last;
        $('scrub').addEventListener('input', () => seek(Number($('scrub').value)));
        $('speed').addEventListener('change', () => { state.speed = Number($('speed').value); });
        $('colour').addEventListener('change', () => setColour($('colour').value));
        for (const key of ['cage', 'forces', 'marker', 'loop']) $(key).addEventListener('click', () => toggle(key));
        $('reset').addEventListener('click', resetView);
        addEventListener('click', e => {   /* a button that was clicked does not keep the space key */
            if (e.detail && e.target.closest('button')) e.target.closest('button').blur();
        });
    }

    function buildText() {
        const name = scene.name.replace(/\.json$/, ''), short = run.steps[run.steps.length - 1].time < 0.999 * scene.duration;
        document.title = name + ' – embipc';
        $('name').textContent = name;
        $('info').textContent = run.steps.length - 1 + ' steps of ' + withUnit(scene.time_step, 's') + ', ' + (last + 1) +
            ' frames' + (short ? ', stopped before its ' + Number(scene.duration.toPrecision(4)) + ' s' : '') +
            '. Surfaces here are within ' + withUnit(run.error, 'm', 2) + ' of the exact ones, which embipc run writes' +
            ' with --out and --frames.';
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
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
    addEventListener('resize', restyle);
    if (!calm) setPlaying(true);
    requestAnimationFrame(now => { clock = now; tick(now); });

    /* for the console, and for tests */
    window.embipc = { state, run, bodies, camera, draw: () => { fine = false; draw(); }, seek, setColour, count: () => drawn };
}

document.addEventListener('DOMContentLoaded', () => {
    try { start(); } catch (error) {
        $('message').textContent = 'The run could not be shown: ' + error.message;
        $('message').hidden = false;
        throw error;
    }
});
}());
