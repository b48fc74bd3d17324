/* The page of `embipc run --view` in a real browser: it loads in silence, draws, follows keys, mouse and fingers,
 * on a screen and on a phone. Screenshots are left beside the page. Usage:
 * node view_test.js PAGE.html PAGE_WITH_JOINTS.html PAGE_WITH_MANY_BODIES.html */
'use strict';
const fs = require('fs');
const path = require('path');
const chromium = require('./chromium.js');

const [, , page, jointed, many] = process.argv;
let passed = 0, failed = 0;

function ensure(what, ok) {
    if (ok) { passed++; return; }
    failed++;
    console.log('FAILED ' + what);
}

/* After the next drawn frame. */
const settle = p => p.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))');

/* The picture as numbers: the share of pixels that are not the paper, and a sum that tells pictures apart. */
const look = p => p.evaluate(`(() => {
    const canvas = document.getElementById('picture'), gl = canvas.getContext('webgl');
    embipc.draw();
    const w = canvas.width, h = canvas.height, px = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, px);
    const top = px.slice(4 * w * (h - 1), 4 * w * (h - 1) + 3);
    let other = 0, sum = 0;
    for (let i = 0; i < px.length; i += 4) {
        const d = Math.abs(px[i] - top[0]) + Math.abs(px[i + 1] - top[1]) + Math.abs(px[i + 2] - top[2]);
        if (d > 60) other++;
        sum = (sum * 31 + px[i] + 3 * px[i + 1] + 7 * px[i + 2]) % 2147483647;
    }
    return { share: other / (w * h), sum, error: gl.getError() };
})()`);

/* Pictures drawn a second while it plays for a while: told, not judged, as the machine may be busy. */
async function measure(p, name) {
    await p.evaluate('embipc.seek(0)');
    await p.press(' ', ' ');
    const before = await p.evaluate('embipc.count()'), start = Date.now();
    await new Promise(resolve => setTimeout(resolve, 2000));
    const drawn = await p.evaluate('embipc.count()') - before;
    const size = await p.evaluate("(c => c.width + ' x ' + c.height)(document.getElementById('picture'))");
    console.log(name + ': ' + (1000 * drawn / (Date.now() - start)).toFixed(0) + ' pictures a second, ' + size);
    ensure(name + ': playback draws', drawn > 4 && await p.evaluate('embipc.state.at') > 0);
    await p.press(' ', ' ');
    ensure(name + ': space pauses', await p.evaluate('!embipc.state.playing'));
}

/* Does doing this change the picture? */
async function changes(p, what, act) {
    const before = await look(p);
    await act();
    await settle(p);
    const after = await look(p);
    ensure(what, before.sum !== after.sum);
    return after;
}

async function testKeys(p) {
    const last = await p.evaluate('embipc.run.frames.length - 1');
    await p.press('Home');
    ensure('home goes to the start', await p.evaluate('embipc.state.at') === 0);
    await p.press('ArrowRight');
    ensure('right goes a frame on', await p.evaluate('embipc.state.at') === 1);
    await p.press('ArrowLeft');
    ensure('left goes a frame back', await p.evaluate('embipc.state.at') === 0);
    await changes(p, 'end changes the picture', () => p.press('End'));
    ensure('end goes to the end', await p.evaluate('embipc.state.at') === last);
    for (const key of ['c', 'f', '2']) {
        const before = await look(p);
        await changes(p, key + ' changes the picture', () => p.press(key, key));
        const after = await changes(p, key + ' changes it again', () => p.press(key, key));
        ensure(key + ' twice is as before', after.sum === before.sum);
    }
    await p.press('m', 'm');
    await settle(p);
    const told = await p.evaluate("(e => e.hidden ? '' : e.textContent)(document.getElementById('nearest'))");
    const names = await p.evaluate('embipc.bodies.map(b => b.name)');
    ensure('m shows the smallest distance and its pair: ' + told,
           /^[0-9.e-]+ .?m /.test(told) && names.filter(name => told.includes(name)).length === 2);
    await p.press('m', 'm');
    await p.press('ArrowUp');
    ensure('up is faster', await p.evaluate('embipc.state.speed') === 2);
    await p.press('ArrowDown');
}

const boxOf = (p, selector) =>
    p.evaluate(`document.querySelector('${selector}').getBoundingClientRect().toJSON()`);
const fits = p => p.evaluate('document.documentElement.scrollWidth <= innerWidth');

async function testScrub(p) {
    const box = await boxOf(p, '#scrub');
    const click = async (x, y) => {
        for (const type of ['mousePressed', 'mouseReleased'])
            await p.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    };
    await p.evaluate('embipc.seek(0)');
    const share = () => p.evaluate('embipc.state.at / (embipc.run.frames.length - 1)');
    await changes(p, 'scrubbing changes the picture',
                  () => click(box.x + 0.6 * box.width, box.y + box.height / 2));
    ensure('the scrubber goes where it is clicked', Math.abs(await share() - 0.6) < 0.05);
    const before = (await boxOf(p, '.plot .cursor')).x;
    await p.evaluate('embipc.seek(1)');
    await settle(p);
    ensure('the cursor of the plots follows', (await boxOf(p, '.plot .cursor')).x < before - 20);
    const plot = await boxOf(p, '.plot canvas');
    await click(plot.x + plot.width - 6, plot.y + plot.height / 2);
    ensure('a click in a plot goes to its moment', await share() > 0.9);
}

async function testMouse(p) {
    const drag = async (modifiers) => {
        const mouse = (type, x, y) => p.send('Input.dispatchMouseEvent',
            { type, x, y, button: 'left', buttons: 1, modifiers });
        await mouse('mousePressed', 400, 300);
        await mouse('mouseMoved', 460, 330);
        await mouse('mouseReleased', 460, 330);
    };
    const first = await look(p);
    await changes(p, 'dragging turns', () => drag(0));
    await changes(p, 'shift-dragging moves', () => drag(8));
    await changes(p, 'the wheel zooms', () => p.send('Input.dispatchMouseEvent',
        { type: 'mouseWheel', x: 400, y: 300, deltaX: 0, deltaY: -200 }));
    await p.press('r', 'r');
    await settle(p);
    ensure('r is the first view again', (await look(p)).sum === first.sum);
}

async function testTouch(p) {
    const touch = (type, points) => p.send('Input.dispatchTouchEvent', { type, touchPoints: points });
    const state = () => p.evaluate('({ yaw: embipc.camera.yaw, distance: embipc.camera.distance })');
    const before = await state();
    await touch('touchStart', [{ x: 150, y: 200 }]);
    await touch('touchMove', [{ x: 200, y: 210 }]);
    await touch('touchEnd', []);
    const turned = await state();
    ensure('one finger turns', turned.yaw !== before.yaw && turned.distance === before.distance);
    await touch('touchStart', [{ x: 150, y: 200, id: 0 }, { x: 250, y: 200, id: 1 }]);
    await touch('touchMove', [{ x: 120, y: 200, id: 0 }, { x: 280, y: 200, id: 1 }]);
    await touch('touchEnd', []);
    ensure('two fingers zoom', (await state()).distance < 0.8 * turned.distance);
    await p.press('r', 'r');
}

const shot = (p, name) => p.shoot(path.join(path.dirname(page), name));
const later = ms => new Promise(resolve => setTimeout(resolve, ms));

async function testScreen(browser) {
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(page);
    await settle(p);
    ensure('the page has an instance to play', await p.evaluate('embipc.run.frames.length') > 100);
    await measure(p, '1280 x 800');
    await testKeys(p);
    await testScrub(p);
    await testMouse(p);
    await p.evaluate('embipc.seek(Math.round(0.45 * embipc.run.frames.length))');
    for (const colour of ['strain', 'speed', 'pressure', 'body'])
        await changes(p, 'colour by ' + colour, () => p.evaluate(`embipc.setColour('${colour}')`));
    const seen = await look(p);
    ensure('bodies are drawn: ' + seen.share.toFixed(3) + ' of it', seen.share > 0.04 && seen.share < 0.9);
    ensure('WebGL has no errors', seen.error === 0);
    ensure('nothing is wider than the page', await fits(p));
    await later(600);
    const drawn = await p.evaluate('embipc.count()');
    await later(400);
    ensure('nothing is drawn while nothing changes', await p.evaluate('embipc.count()') === drawn);
    await shot(p, 'view_1280x800.png');
    await p.evaluate("embipc.setColour('pressure')");
    for (const key of ['c', 'f', 'm']) await p.press(key, key);
    await p.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    await later(600);
    await shot(p, 'view_dark.png');
    ensure('no complaints: ' + p.complaints.join('; '), p.complaints.length === 0);
}

async function testPhone(browser) {
    const p = await chromium.openPage(browser, 390, 844, true);
    await p.load(page);
    await settle(p);
    await measure(p, '390 x 844');
    await testTouch(p);
    await p.evaluate('embipc.seek(Math.round(0.45 * embipc.run.frames.length))');
    const seen = await look(p);
    ensure('the phone draws bodies (' + seen.share.toFixed(3) + ' of the picture)', seen.share > 0.04);
    ensure('the phone does not scroll sideways', await fits(p));
    const small = await p.evaluate(`[...document.querySelectorAll('button, select, #scrub, #bodies label, summary')]
        .filter(e => e.offsetParent && e.getBoundingClientRect().height < 43.5).map(e => e.id || e.textContent)`);
    ensure('what fingers touch is 44 px high, but not ' + small.join(', '), small.length === 0);
    ensure('help is folded', await p.evaluate("!document.querySelector('details').open"));
    ensure('plots are below the picture', (await boxOf(p, '#plots')).y > (await boxOf(p, '#picture')).bottom);
    await later(600);
    await shot(p, 'view_390x844.png');
    ensure('no complaints on the phone: ' + p.complaints.join('; '), p.complaints.length === 0);
}

/* A page whose run was killed within a line works up to there. */
async function testCut(browser) {
    const text = fs.readFileSync(page, 'latin1'), cut = path.join(path.dirname(page), 'view_cut.html');
    fs.writeFileSync(cut, text.slice(0, Math.floor(text.length / 2)), 'latin1');
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(cut);
    await settle(p);
    const frames = await p.evaluate('embipc.run.frames.length');
    ensure('half a page plays', frames > 20 && p.complaints.length === 0);
}

/* Pixels of the ramp's hot end: where there is pressure. */
const hot = p => p.evaluate(`(() => {
    const canvas = document.getElementById('picture'), gl = canvas.getContext('webgl');
    embipc.draw();
    const w = canvas.width, h = canvas.height, px = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, px);
    let n = 0;
    for (let i = 0; i < px.length; i += 4) n += px[i] > 1.45 * px[i + 1] && px[i] > 1.3 * px[i + 2];
    return n / (w * h);
})()`);

/* Pressure lies between bodies: it is seen from the front, through the faded bodies, as well as with one of them hidden. */
async function testPressure(browser) {
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(page);
    await p.evaluate('embipc.seek(embipc.run.frames.length - 1)');
    await p.evaluate("embipc.setColour('pressure')");
    await settle(p);
    const share = await hot(p);
    ensure('pressure between bodies is seen, on ' + (100 * share).toFixed(2) + ' % of the picture', share > 0.001);
    await later(600);
    await shot(p, 'view_pressure.png');
}

/* A list of many bodies scrolls, says how many they are, and shows half a row; their colours differ. */
async function testMany(browser) {
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(many);
    await settle(p);
    const list = await p.evaluate(`(e => ({ inside: e.scrollHeight, height: e.clientHeight,
        cut: [...e.children].some(c => { const b = c.getBoundingClientRect(), t = e.getBoundingClientRect();
            return b.top < t.bottom - 4 && b.bottom > t.bottom + 4; }) }))(document.getElementById('bodies'))`);
    ensure('the list of bodies scrolls', list.inside > list.height + 20);
    ensure('its last row is cut, so that this is seen', list.cut);
    const moving = await p.evaluate('embipc.bodies.filter(b => b.moving).map(b => b.colour.join())');
    const [view, yaw, pitch] = await p.evaluate(
        '[JSON.parse(document.getElementById("scene").textContent).view, embipc.camera.yaw, embipc.camera.pitch]');
    ensure('the first view is that of the file', view[0] === yaw && view[1] === pitch);
    ensure('it says how many', await p.evaluate("document.getElementById('count').textContent")
           === await p.evaluate('embipc.bodies.length') + ' bodies');
    ensure('colours of ' + moving.length + ' bodies differ', new Set(moving).size === Math.min(moving.length, 24));
    await later(400);
    await shot(p, 'view_many.png');
    ensure('no complaints of many: ' + p.complaints.join('; '), p.complaints.length === 0);
}

/* Joints are drawn where there are some, and go with their bodies. */
async function testJoints(browser) {
    const p = await chromium.openPage(browser, 1280, 800, false);
    await p.load(jointed);
    await p.evaluate('embipc.seek(Math.round(0.4 * embipc.run.frames.length))');
    await settle(p);
    const before = await look(p);
    await changes(p, 'j changes the picture', () => p.press('j', 'j'));
    const after = await changes(p, 'j changes it again', () => p.press('j', 'j'));
    ensure('j twice is as before', after.sum === before.sum && after.error === 0);
    await changes(p, 'forces are drawn beside joints', () => p.press('f', 'f'));
    ensure('there is a button for joints', !(await p.evaluate("document.getElementById('joints').hidden")));
    ensure('no complaints about joints: ' + p.complaints.join('; '), p.complaints.length === 0);
}

(async () => {
    const program = chromium.find();
    if (!many) { console.log('usage: node view_test.js PAGE.html PAGE_WITH_JOINTS.html PAGE_WITH_MANY_BODIES.html'); process.exit(2); }
    if (!program) {
        console.log('skipped: no chromium found (its name can be given as CHROMIUM)');
        console.log('0 passed, 0 failed, 1 skipped');
        return;
    }
    const browser = chromium.launch(program), bytes = fs.statSync(page).size;
    ensure('the page is below 5 MB', bytes < 5e6);
    console.log('page: ' + (bytes / 1e3).toFixed(0) + ' kB');
    try {
        for (const test of [testScreen, testPhone, testCut, testJoints, testPressure, testMany]) await test(browser);
    } catch (error) { ensure(error.stack, false); }
    await browser.close();
    console.log(passed + ' passed, ' + failed + ' failed, 0 skipped');
    process.exit(failed ? 1 : 0);
})();
