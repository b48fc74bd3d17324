/* The page of `make web` in a real browser, on a screen and on a phone: it loads in silence, its steps go on, mouse and
 * finger pull the bear, plates squeeze and lift it, a box lands on it, sliders do what they say, and nothing crosses.
 * Screenshots are left beside the page. Usage: node web_test.js PAGE.html */
'use strict';
const fs = require('fs');
const path = require('path');
const chromium = require('./chromium.js');

const page = process.argv[2];
let passed = 0, failed = 0;

function ensure(what, ok) {
    if (ok) { passed++; return; }
    failed++;
    console.log('FAILED ' + what);
}

/* What web_numbers() tells, by name. */
const NAMES = ['time', 'iterations', 'contacts', 'distance', 'converged', 'force', 'gap', 'lift', 'boxes', 'nodes',
               'height', 'width', 'x', 'y', 'z'];
async function numbers(p) {
    const list = await p.evaluate('embipc.numbers().map(String)'), out = {};   /* JSON has no infinity */
    NAMES.forEach((name, i) => { out[name] = Number(list[i]); });
    return out;
}

const later = ms => new Promise(resolve => setTimeout(resolve, ms));
const boxOf = (p, selector) => p.evaluate(`document.querySelector('${selector}').getBoundingClientRect().toJSON()`);
const textOf = (p, id) => p.evaluate(`document.getElementById('${id}').textContent`);
const shot = (p, name) => p.shoot(path.join(path.dirname(page), name));

/* After the first pictures. */
const begun = p => p.evaluate(`new Promise(done => {
    const look = () => window.embipc && embipc.count() > 1 ? done(1) : setTimeout(look, 50);
    look();
})`);

/* Lets simulated time pass until `enough`, at most so many seconds of it. Every state on the way has a distance. Gives
 * up where time stands still. */
async function until(p, seconds, enough) {
    const start = (await numbers(p)).time;
    let n, before = -1, still = 0, apart = true;
    do {
        await later(60);
        n = await numbers(p);
        apart = apart && n.distance > 0;
        still = n.time === before ? still + 1 : 0;
        before = n.time;
    } while (!enough(n) && n.time < start + seconds && still < 200);
    ensure('the smallest distance is above 0', apart);
    ensure('time goes on', still < 200);
    return n;
}

/* The library's own check of everything, and that of all surfaces for crossings. */
async function check(p, when) {
    const wrong = await p.evaluate('embipc.module.web_validate() ? embipc.text() : ""');
    ensure(when + ': the world is valid: ' + wrong, wrong === '');
    ensure(when + ': nothing crosses', await p.evaluate('embipc.module.web_crossings()') === 0);
}

async function click(p, selector, share) {
    const box = await boxOf(p, selector), x = box.x + (share === undefined ? 0.5 : share) * box.width;
    for (const type of ['mousePressed', 'mouseReleased'])
        await p.send('Input.dispatchMouseEvent', { type, x, y: box.y + box.height / 2, button: 'left', clickCount: 1 });
}

async function centre(p) {
    const n = await numbers(p);
    return p.evaluate(`embipc.pixelOf([${n.x}, ${n.y}, ${n.z}])`);
}

/* Press at (x, y), go dx to the side and dy down, wait, lift. */
async function pull(p, send, [x, y], dx, dy) {
    await send('start', x, y);
    const held = await p.evaluate('embipc.state.held');
    for (let i = 1; i <= 5; i++) await send('move', x + dx * i / 5, y + dy * i / 5);
    const before = await numbers(p);
    const after = await until(p, 0.8, () => false);
    await send('end', x + dx, y + dy);
    return { held, before, after };
}

const mouse = p => (what, x, y) => p.send('Input.dispatchMouseEvent', {
    type: { start: 'mousePressed', move: 'mouseMoved', end: 'mouseReleased' }[what], x, y, button: 'left',
    buttons: what === 'end' ? 0 : 1, clickCount: what === 'move' ? 0 : 1
});
const finger = p => (what, x, y) => p.send('Input.dispatchTouchEvent', {
    type: { start: 'touchStart', move: 'touchMove', end: 'touchEnd' }[what],
    touchPoints: what === 'end' ? [] : [{ x, y }]
});

/* How far the bear is to the right as the camera sees it, m. */
const across = (p, n) => p.evaluate(`-Math.sin(embipc.camera.yaw) * ${n.x} + Math.cos(embipc.camera.yaw) * ${n.y}`);

async function testPull(p, send, name) {
    const first = await across(p, await numbers(p)), yaw = await p.evaluate('embipc.camera.yaw');
    const { held, after } = await pull(p, send, await centre(p), 90, -40), moved = await across(p, after) - first;
    ensure(name + ' holds the bear', held);
    ensure(name + ' pulls it to the right: ' + moved.toFixed(4) + ' m', moved > 0.02);
    ensure(name + ' lets go', !(await p.evaluate('embipc.state.held')));
    ensure(name + ' does not turn the view meanwhile', await p.evaluate('embipc.camera.yaw') === yaw);
    await check(p, name);
    const box = await boxOf(p, '#picture');
    const other = await pull(p, send, [box.x + 0.5 * box.width, box.y + 0.25 * box.height], 60, 10);
    ensure(name + ' holds nothing beside it', !other.held);
    ensure(name + ' turns the view there', await p.evaluate('embipc.camera.yaw') !== yaw);
    await click(p, '#restart');
    await p.evaluate("document.getElementById('reset').click()");
}

async function testGripper(p) {
    const before = await until(p, 0.5, () => false);
    ensure('the open plates push nothing', before.force === 0);
    await click(p, '#gap', 0.85);
    const want = await p.evaluate("0.2 - 0.15 * Number(document.getElementById('gap').value)");
    const squeezed = await until(p, 5, n => Math.abs(n.gap - want) < 1e-6);
    ensure('the plates go where the slider says', Math.abs(squeezed.gap - want) < 1e-6 && want < 0.1);
    ensure('they squeeze the bear: ' + squeezed.force.toFixed(1) + ' N', squeezed.force > 1);
    ensure('it becomes higher', squeezed.height > before.height + 0.002);
    await check(p, 'squeezed');
    await click(p, '#lift', 0.6);
    const lifted = await until(p, 5, n => n.lift > 0.1);
    ensure('they lift it', lifted.z > before.z + 0.07);
    await shot(p, 'web_1280x800.png');
    await check(p, 'lifted');
}

/* Lowest point of the box that fell last. */
const lowest = p => p.evaluate(`(() => {
    const body = embipc.bodies().filter(b => b.kind === 'affine').pop();
    return Math.min(...body.x.filter((v, i) => i % 3 === 2));
})()`);

async function testBoxes(p) {
    await click(p, '#drop');
    ensure('there is a box', (await numbers(p)).boxes === 1);
    const high = await lowest(p);
    let low = high, before = Infinity;
    for (let i = 0; i < 20 && Math.abs(low - before) > 5e-4; i++) {
        before = low;
        await until(p, 0.5, () => false);
        low = await lowest(p);
    }
    ensure('it falls and comes to rest', low < high - 0.02 && Math.abs(low - before) <= 5e-4);
    ensure('it stays above the ground: ' + low, low > -0.001);
    for (let i = 0; i < 3; i++) { await click(p, '#drop'); await until(p, 0.3, () => false); }
    await check(p, 'boxes');
    const start = await numbers(p);
    await click(p, '#friction', 0.01);
    const fallen = await until(p, 2, n => n.z < start.z - 0.05);
    ensure('without friction the bear slips out of the plates', fallen.z < start.z - 0.05);
    await check(p, 'slipped');
    await click(p, '#gap', 0.01);
    ensure('the plates open', (await until(p, 3, n => n.gap > 0.19)).gap > 0.19);
}

/* E and the cage begin anew with as many boxes, friction and h do not. */
async function testSliders(p) {
    const before = await numbers(p), young = await textOf(p, 'young-text');
    await click(p, '#young', 0.8);
    let n = await numbers(p);
    ensure('another modulus begins anew', n.time < 0.5 * before.time && await textOf(p, 'young-text') !== young);
    ensure('with as many boxes', n.boxes === before.boxes);
    n = await until(p, 1, () => false);
    await click(p, '#nodes', 0.75);
    const finer = await numbers(p);
    ensure('a finer cage begins anew: ' + finer.nodes + ' nodes', finer.time < n.time && finer.nodes > 1.5 * n.nodes);
    n = await until(p, 0.5, () => false);
    await click(p, '#friction', 0.95);
    await click(p, '#step', 0.33);
    const on = await until(p, 0.3, () => false);
    ensure('friction and time step change while it runs', on.time > n.time);
    ensure('the time step is told', await textOf(p, 'step-text') === '1/120 s');
    ensure('friction is told', Number(await textOf(p, 'friction-text')) > 0.9);
    await click(p, '#pause');
    const step = await p.evaluate(`(() => {
        const t = embipc.numbers()[0];
        embipc.module.web_step();
        return embipc.numbers()[0] - t;
    })()`);
    ensure('a step has the length that is told', Math.abs(step - 1 / 120) < 1e-12);
    const stopped = await numbers(p);
    await later(300);
    ensure('pause stops', (await numbers(p)).time === stopped.time);
    await click(p, '#pause');
    await check(p, 'sliders');
}

/* Numbers told, not judged, as the machine may be busy; that there are some is judged. */
async function testNumbers(p, name) {
    await until(p, 3, () => false);
    await later(1200);
    for (const id of ['speed', 'cost', 'iterations', 'contacts', 'distance', 'crossings'])
        ensure(name + ': ' + id + ' is told', /\d/.test(await textOf(p, id)));
    const [could, made] = await p.evaluate('[embipc.state.stepsPerSecond, embipc.state.stepsMade]');
    console.log(name + ': ' + made.toFixed(0) + ' steps a second beside the picture, a step alone ' +
                (1000 / could).toFixed(2) + ' ms');
}

async function testScreen(browser) {
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(page);
    await begun(p);
    await testNumbers(p, '1280 x 800');
    await check(p, 'at rest');
    await testPull(p, mouse(p), 'the mouse');
    await testGripper(p);
    await testBoxes(p);
    await testSliders(p);
    await p.press('c', 'c');
    ensure('c shows the cage', await p.evaluate('embipc.state.cage'));
    await p.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    await later(800);
    await shot(p, 'web_dark.png');
    const error = await p.evaluate("document.getElementById('picture').getContext('webgl').getError()");
    ensure('WebGL has no errors', error === 0);
    ensure('no complaints: ' + p.complaints.join('; '), p.complaints.length === 0);
}

async function testPhone(browser) {
    const p = await chromium.openPage(browser, 390, 844, true);
    await p.load(page);
    await begun(p);
    await testNumbers(p, '390 x 844');
    await testPull(p, finger(p), 'a finger');
    const small = await p.evaluate(`[...document.querySelectorAll('button, input')]
        .filter(e => e.getBoundingClientRect().height < 44).map(e => e.id).join()`);
    ensure('what fingers touch is 44 pixels high: ' + small, small === '');
    const wide = await p.evaluate('document.documentElement.scrollWidth - innerWidth');
    ensure('the phone does not scroll sideways', wide <= 0);
    const touch = (type, points) => p.send('Input.dispatchTouchEvent', { type, touchPoints: points });
    const [x, y] = await centre(p), distance = await p.evaluate('embipc.camera.distance');
    await touch('touchStart', [{ x, y, id: 0 }]);
    await touch('touchStart', [{ x, y, id: 0 }, { x: x + 90, y, id: 1 }]);
    ensure('a second finger lets go', !(await p.evaluate('embipc.state.held')));
    await touch('touchMove', [{ x: x - 30, y, id: 0 }, { x: x + 120, y, id: 1 }]);
    await touch('touchEnd', []);
    ensure('two fingers zoom', await p.evaluate('embipc.camera.distance') < 0.8 * distance);
    await p.evaluate("document.getElementById('reset').click()");
    await click(p, '#drop');
    await until(p, 0.8, () => false);
    await check(p, 'the phone');
    await shot(p, 'web_390x844.png');
    ensure('no complaints on the phone: ' + p.complaints.join('; '), p.complaints.length === 0);
}

(async () => {
    const program = chromium.find(), built = page && fs.existsSync(page);
    if (!page) { console.log('usage: node web_test.js PAGE.html'); process.exit(2); }
    if (!built || !program) {
        console.log(built ? 'skipped: no chromium found (its name can be given as CHROMIUM)' : 'skipped: no ' + page);
        console.log('0 passed, 0 failed, 1 skipped');
        return;
    }
    const browser = chromium.launch(program), bytes = fs.statSync(page).size;
    ensure('the page is below 0.5 MB', bytes < 5e5);
    console.log('page: ' + (bytes / 1e3).toFixed(0) + ' kB');
    try {
        for (const test of [testScreen, testPhone]) await test(browser);
    } catch (error) { ensure(error.stack, false); }
    await browser.close();
    console.log(passed + ' passed, ' + failed + ' failed, 0 skipped');
    process.exit(failed ? 1 : 0);
})();
