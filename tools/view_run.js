/* The run as the page holds it: two scripts that are data. "scene" is JSON, what holds for the whole run; "run"
 * has a line for each thing: s the numbers of a step, p the force of a pair, m the nearest points, f a frame.
 * view.c writes them and says what is in them. And what is computed from it: surfaces, and the values they are
 * coloured by. Lengths m, times s, forces N; z is up. */

/* ==== The run ============================================================================== */

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
        name: b.name, kind: b.kind, moving, vertices: b.vertices, nodes: b.nodes,
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
            const [force, friction, at] = [n.slice(2, 5), n.slice(5, 8), n.slice(8, 11)];
            step.pairs.push({ a: n[0], b: n[1], force, friction, at });
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
        for (let i = k, p = at + 24 + 2 * k; i < 3 * count; i += 3, p += 6)
            out[i] = low + unit * data.getUint16(p, true);
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

/* What a frame says of each body: nodes, forces on vertices (null: none). */
function readFrame(base64, bodies) {
    const data = new DataView(bytesOf(base64).buffer);
    let at = 0;
    return bodies.map(body => {
        const f = { q: new Float32Array(3 * body.nodes), force: null };
        if (body.moving) at = readPoints(data, at, body.nodes, f.q);
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

/* ==== Bodies =============================================================================== */

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
                const cosine = [0, 1, 2].reduce((sum, k) => sum + normal[s + k] * normal[t + k], 0);
                if (cosine > sharpest && others(list[i]).some(v => o.includes(v)))
                    parent[root(list[i])] = root(list[j]);
            }
    const number = new Int32Array(corners).fill(-1), index = new Uint32Array(corners), origin = [];
    for (let c = 0; c < corners; c++) {
        const r = root(c);
        if (number[r] < 0) { number[r] = origin.length; origin.push(triangle[c]); }
        index[c] = number[r];
    }
    return { origin: Uint32Array.from(origin), index };
}

/* The same for a body with paint, where each triangle has its own part of the picture: each corner is a point,
 * with the place in the picture in uv. normal: which of the joined points gives a point its normal. */
function paintedPoints(body, points) {
    const corners = points.index.length, { tile, across } = body, rows = Math.ceil(corners / 3 / across);
    const uv = new Float32Array(2 * corners);
    for (let c = 0; c < corners; c++) {
        const t = Math.floor(c / 3), k = c % 3;
        uv[2 * c] = (t % across * tile + 1.5 + (k === 1 ? tile - 3 : 0)) / (across * tile);
        uv[2 * c + 1] = (Math.floor(t / across) * tile + 1.5 + (k === 2 ? tile - 3 : 0)) / (rows * tile);
    }
    const index = Uint32Array.from({ length: corners }, (v, c) => c);
    return { origin: body.triangle, index, normal: points.index, uv };
}

/* Where a point of a joint is: it goes with a body's nodes, or stays where it is. */
function anchorAt(anchor, bodies) {
    if (anchor[0] < 0) return anchor.slice(1);
    const q = bodies[anchor[0]].q, at = [0, 0, 0];
    for (let j = 1; j < 5; j++) for (let k = 0; k < 3; k++) at[k] += anchor[j + 4] * q[3 * anchor[j] + k];
    return at;
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

/* ==== Numbers as text ====================================================================== */

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
