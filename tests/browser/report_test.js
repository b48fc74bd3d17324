/* The report of `make paper` in a real browser: every page loads in silence on a screen and on a phone, nothing sticks out
 * sideways, viewers draw, links lead somewhere. With SHOTS a folder gets a screenshot of each, of the report in slices.
 * Usage: node report_test.js DIR [SHOTS] */
'use strict';
const fs = require('fs');
const path = require('path');
const chromium = require('./chromium.js');

const dir = process.argv[2], shots = process.argv[3];
const sizes = [[1280, 800, false, 'screen'], [390, 844, true, 'phone']];
let passed = 0, failed = 0;

function ensure(what, ok) {
    if (ok) { passed++; return; }
    failed++;
    console.log('FAILED ' + what);
}

async function shoot(page, name) {
    if (shots) await page.shoot(path.join(shots, name + '.png'));
}

async function report(browser, width, height, phone, size) {
    const page = await chromium.openPage(browser, width, height, phone);
    await page.load(path.join(dir, 'index.html'));
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    ensure('the report, ' + size + ': no wider than the window, not by ' + wide, wide <= 0);
    const links = await page.evaluate('[...new Set([...document.links].map(a => a.getAttribute("href")))]');
    ensure('the report has links', links.length > 0);
    for (const link of links)
        ensure('link ' + link, link[0] === '#' ? await page.evaluate('!!document.getElementById(' + JSON.stringify(link.slice(1)) + ')')
                                               : fs.existsSync(path.join(dir, link)));
    const images = await page.evaluate(`Promise.all([...document.images].map(i => { i.loading = "eager"; return i.decode()
        .then(() => 0, () => i.src); })).then(all => all.filter(src => src))`);
    ensure('the report, ' + size + ': every picture is there, but not ' + images.join(', '), images.length === 0);
    const lost = await page.evaluate(`[...document.querySelectorAll('.legend span')].filter(e => {
        const b = e.getBoundingClientRect(); return b.width && (b.left < 0 || b.right > innerWidth); }).map(e => e.textContent)`);
    ensure('the report, ' + size + ': legends are in view, but not ' + lost.join(', '), lost.length === 0);
    if (phone) ensure('the report has legends on a phone', await page.evaluate(
        "[...document.querySelectorAll('figure svg')].every(e => e.parentElement.querySelector('.legend').offsetHeight > 0)"));
    const tall = shots ? await page.evaluate('document.documentElement.scrollHeight') : 0;
    for (let y = 0, k = 0; y < tall; y += height - 20, k++) {
        await page.evaluate('scrollTo(0, ' + y + ')');
        await shoot(page, 'report_' + size + '_' + String(k).padStart(3, '0'));
    }
    ensure('the report, ' + size + ', without complaints: ' + page.complaints.join('; '), page.complaints.length === 0);
    return links.filter(link => /^[^#/]*\.html$/.test(link));
}

async function viewer(browser, name, width, height, phone, size) {
    const page = await chromium.openPage(browser, width, height, phone);
    await page.load(path.join(dir, name));
    ensure(name + ', ' + size + ': has frames', await page.evaluate('embipc.run.frames.length > 1'));
    await page.evaluate('embipc.seek(Math.round(0.45 * embipc.run.frames.length))');
    await page.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))');
    await shoot(page, name.replace('.html', '') + '_' + size);
    ensure(name + ', ' + size + ', without complaints: ' + page.complaints.join('; '), page.complaints.length === 0);
    await page.send('Page.close');
}

async function main() {
    const program = chromium.find();
    if (!program) {
        console.log('skipped: no chromium');
        console.log('0 passed, 0 failed, 1 skipped');
        return;
    }
    if (shots) fs.mkdirSync(shots, { recursive: true });
    const browser = chromium.launch(program);
    try {
        for (const size of sizes)
            for (const name of await report(browser, ...size)) await viewer(browser, name, ...size);
    } finally { await browser.close(); }
    console.log(passed + ' passed, ' + failed + ' failed, 0 skipped');
    if (failed) process.exitCode = 1;
}

main().catch(e => { console.log('FAILED ' + e.stack); console.log(passed + ' passed, ' + (failed + 1) + ' failed, 0 skipped'); process.exitCode = 1; });
