/* Chromium without a window, driven over two pipes by its DevTools protocol: messages are JSON that ends with a
 * zero byte. Node alone is needed. */
'use strict';
const { spawn, spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/* The first of the usual names that can be run, or null; CHROMIUM names another. */
function find() {
    const names = process.env.CHROMIUM ? [process.env.CHROMIUM] : NAMES;
    return names.find(name => spawnSync(name, ['--version']).status === 0) || null;
}

function launch(program) {
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'embipc-browser-'));
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--use-gl=angle', '--use-angle=swiftshader',
                   '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync',
                   '--disable-dev-shm-usage', '--hide-scrollbars',
                   '--user-data-dir=' + profile, '--remote-debugging-pipe', 'about:blank'];
    const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const waiting = new Map(), listeners = [];
    let last = 0, rest = '';
    child.stdio[4].setEncoding('utf8');
    child.stdio[4].on('data', data => {
        const parts = (rest + data).split('\0');
        rest = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part), wait = waiting.get(message.id);
            if (!wait) { listeners.forEach(f => f(message)); continue; }
            waiting.delete(message.id);
            if (message.error) wait.reject(new Error(message.error.message)); else wait.resolve(message.result);
        }
    });
    child.on('exit', () => waiting.forEach(wait => wait.reject(new Error('the browser has ended'))));
    child.stdio[3].on('error', () => {});
    const send = (method, params, sessionId) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        child.stdio[3].write(JSON.stringify({ id: last, method, params: params || {}, sessionId }) + '\0');
    });
    const close = async () => {
        const ended = new Promise(resolve => child.on('exit', resolve));
        await Promise.race([send('Browser.close').catch(() => {}), new Promise(r => setTimeout(r, 3000))]);
        const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
        await ended;
        clearTimeout(timer);
        fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    };
    return { send, close, listen: f => listeners.push(f) };
}

/* A page of this size, with everything it complains about in `complaints`. */
async function openPage(browser, width, height, phone) {
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method, params) => browser.send(method, params, sessionId), complaints = [];
    browser.listen(m => {
        if (m.sessionId !== sessionId) return;
        if (m.method === 'Runtime.exceptionThrown') complaints.push(m.params.exceptionDetails.text + ' ' +
            ((m.params.exceptionDetails.exception || {}).description || ''));
        if (m.method === 'Runtime.consoleAPICalled' && /error|warning/.test(m.params.type))
            complaints.push(m.params.args.map(a => a.value || a.description).join(' '));
        /* below errors is the browser's own advice, on software drawing for one */
        if (m.method === 'Log.entryAdded' && m.params.entry.level === 'error')
            complaints.push(m.params.entry.text);
        if (m.method === 'Network.requestWillBeSent' && !/^(file|data|about):/.test(m.params.request.url))
            complaints.push('asks for ' + m.params.request.url);
    });
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(domain + '.enable');
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: phone });
    await send('Emulation.setTouchEmulationEnabled', { enabled: phone });
    const evaluate = async expression => {
        const { result, exceptionDetails: x } = await send('Runtime.evaluate',
            { expression, awaitPromise: true, returnByValue: true });
        if (x) throw new Error((x.exception && x.exception.description) || x.text);
        return result.value;
    };
    const load = async file => {
        const loaded = new Promise(resolve => browser.listen(m => {
            if (m.sessionId === sessionId && m.method === 'Page.loadEventFired') resolve();
        }));
        await send('Page.navigate', { url: 'file://' + path.resolve(file) });
        await loaded;
    };
    const press = async (key, text) => {
        await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', key, text });
        await send('Input.dispatchKeyEvent', { type: 'keyUp', key });
    };
    const shoot = async file => {
        const { data } = await send('Page.captureScreenshot', { format: 'png' });
        fs.writeFileSync(file, Buffer.from(data, 'base64'));
    };
    return { send, evaluate, load, press, shoot, complaints };
}

module.exports = { find, launch, openPage };
