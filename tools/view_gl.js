/* Drawing with WebGL 1: shaders, buffers, and arrows as meshes. Knows bodies, not the page. */

/* ==== Vectors and matrices (columns first, as WebGL has them) =============================== */

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a, s, b) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const norm = v => Math.hypot(v[0], v[1], v[2]);
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

/* ==== WebGL ================================================================================ */

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
uniform float alpha, fade, part;   /* part 1: only where there is a value; -1: only where there is none; 0: all */
uniform sampler2D source;
void main() {
    vec3 N = normalize(gl_FrontFacing ? n : -n), V = normalize(toEye), H = normalize(light + V), base = c;
#ifdef COLOURED
    if (part * (v - 0.02) < 0.0) discard;
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
#ifdef COLOURED
    if (part > 0.0) seen = mix(seen, base, 0.7);   /* in the dark between bodies, too */
#endif
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

/* The bodies laid flat on the floor: red along the key light, green straight down, weaker from higher up. slant:
 * how far the light moves along the floor for each metre of height. */
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
    for (const [key, value] of [[gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
                                [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR]])
        gl.texParameteri(gl.TEXTURE_2D, key, value);
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
    const gl = document.createElement('canvas').getContext('webgl');
    const name = gl && gl.getExtension('WEBGL_debug_renderer_info');
    return /swiftshader|llvmpipe|softpipe|software|basic render/i
        .test(gl ? gl.getParameter(name ? name.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : '');
}

function makeRenderer(canvas) {
    const software = isSoftware();
    const gl = canvas.getContext('webgl', { antialias: !software, alpha: false });
    if (!gl) return null;
    const fine = gl.getExtension('OES_element_index_uint') !== null;
    const ramp = new Uint8Array(4 * 256);
    for (let i = 0; i < 256; i++) ramp.set(rampAt(i / 255).map(c => 255 * c).concat(255), 4 * i);
    const corner = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, corner);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    return {
        gl, fine, software, corner,
        line: gl.createBuffer(), arrow: gl.createBuffer(), arrowColour: gl.createBuffer(),
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
        normal: new Float32Array(3 * joined.origin.length), data: new Float32Array(7 * count),
        count: points.index.length,
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

/* ==== Arrows =============================================================================== */

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

/* Directions around an axis, the first one twice. */
function ringAround(axis) {
    const u = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), v = cross(axis, u), ring = [];
    for (let i = 0; i <= ARROW_SIDES; i++) {
        const a = 2 * Math.PI * i / ARROW_SIDES;
        ring.push(along(along([0, 0, 0], Math.cos(a), u), Math.sin(a), v));
    }
    return ring;
}

/* From tail to tip; width is the radius of the shaft. */
function addArrow(arrows, tail, tip, width, colour) {
    const axis = unit(sub(tip, tail)), length = Math.hypot(...sub(tip, tail)), ring = ringAround(axis);
    const head = Math.min(0.45 * length, 6 * width), neck = along(tip, -head, axis);
    for (let i = 0; i < ARROW_SIDES; i++) {
        const a = ring[i], b = ring[i + 1], wide = Math.min(2.6 * width, 0.5 * head);
        const at = (p, r, s) => along(p, s, r);
        for (const [p, r, s] of [[tail, a, width], [tail, b, width], [neck, b, width],
                                 [tail, a, width], [neck, b, width], [neck, a, width]])
            arrowCorner(arrows, at(p, r, s), r, colour);
        for (const [p, r, s] of [[neck, a, wide], [neck, b, wide], [tip, b, 0]])
            arrowCorner(arrows, at(p, r, s), r, colour);
        for (const [p, r, s] of [[neck, b, wide], [neck, a, wide], [neck, a, 0]])
            arrowCorner(arrows, at(p, r, s), [-axis[0], -axis[1], -axis[2]], colour);
    }
}

/* A bar with pointed ends; a point where both ends are the same. */
function addBar(arrows, from, to, width, colour) {
    const line = sub(to, from), axis = dot(line, line) > 0 ? unit(line) : [0, 0, 1], ring = ringAround(axis);
    const back = [-axis[0], -axis[1], -axis[2]];
    for (let i = 0; i < ARROW_SIDES; i++) {
        const a = ring[i], b = ring[i + 1];
        for (const [p, r] of [[from, a], [from, b], [to, b], [from, a], [to, b], [to, a], [to, a], [to, b]])
            arrowCorner(arrows, along(p, width, r), r, colour);
        arrowCorner(arrows, along(to, width, axis), axis, colour);
        for (const r of [b, a, back]) arrowCorner(arrows, along(from, width, r), r, colour);
    }
}
