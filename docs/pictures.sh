#!/bin/sh
# The pictures of docs/pictures.md and README.md, made by the tool alone: sh docs/pictures.sh OUT, from the top folder (make pictures).
set -e
out=$1
tool=${BUILD:-build}/embipc
mkdir -p "$out/tmp"

# one shape alone, as a mesh file: the first frame of a scene that has nothing else
surface() {
    printf '{"version": 1, "bodies": [{"name": "a", "kind": "fixed", %s}]}\n' "$2" > "$out/tmp/$1.json"
    "$tool" run "$out/tmp/$1.json" --duration 0.01 --out "$out/tmp/$1" --frames --quiet
}
cage() { "$tool" embed "$out/tmp/$1/frame_00000.obj" --nodes "$2" --png "$out/$3.png" > /dev/null; echo "$out/$3.png"; }
last() { "$tool" run "examples/scenes/$1.json" --quiet --picture "$out/$2.png" $3; echo "$out/$2.png"; }

surface bear '"shape": "bear", "resolution": 16'
surface comb '"shape": "comb", "size": [0.15, 0.03, 0.13]'
surface finger '"shape": "finger", "size": [0.04, 0.02, 0.11]'
surface plate '"shape": "plate", "radius": 0.1'
cage bear 34 bear_34
cage bear 170 bear_170
cage comb 100 comb_cage
cage finger 150 finger_cage
cage plate 60 plate_cage
last finger finger
last comb comb
last chain chain
last squeeze squeeze "--duration 1.5"
last throw throw "--duration 0.015"
last tower tower
last rack rack "--duration 2.7"
last rods rods "--duration 1.6"
"$tool" doctor docs/heap.json -o "$out/tmp/heap.json" > "$out/tmp/heap.txt"
"$tool" run "$out/tmp/heap.json" --duration 0.01 --quiet --picture "$out/heap.png"
echo "$out/heap.png"
"$tool" run examples/scenes/grasp.json --every 4 --quiet --animation "$out/grasp.png"
echo "$out/grasp.png"
rm -r "$out/tmp"
