// png-to-cifar: a PNG sheet of pictures becomes records of CIFAR-10's binary version.
//
//   node tools/png-to-cifar.mjs SHEET.png LABELS.json FIRST OUT.bin
//
// Row i of the sheet is a picture of 32 x 32 pixels, row by row, red, green and blue side by side; its label is number
// FIRST + i of the list in LABELS.json. A record is the label and the red, green and blue planes.
import {readFileSync, writeFileSync} from "node:fs";
import {inflateSync} from "node:zlib";

const pixels = 32 * 32, colours = 3, classes = 10;

function fail(sentence) {
  console.error(`png-to-cifar: ${sentence}`);
  process.exit(1);
}

// Width, height and the decompressed scan lines, each with its filter in front.
function readSheet(file) {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, 8).toString("latin1") !== "\x89PNG\r\n\x1a\n") fail(`${file} is no PNG file`);
  const parts = [];
  let header;
  for (let place = 8; place + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(place), kind = bytes.toString("latin1", place + 4, place + 8);
    const body = bytes.subarray(place + 8, place + 8 + length);
    if (kind === "IHDR") header = body;
    if (kind === "IDAT") parts.push(body);
    place += 12 + length;
  }
  const [depth, kind, , , interlace] = header.subarray(8);
  if (depth !== 8 || kind !== 2 || interlace !== 0) fail(`${file} is not 8 bits of red, green and blue without interlace`);
  return {width: header.readUInt32BE(0), height: header.readUInt32BE(4), lines: inflateSync(Buffer.concat(parts))};
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const byLeft = Math.abs(guess - left), byAbove = Math.abs(guess - above), byCorner = Math.abs(guess - corner);
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}

// Undoes the filter of a line, given the finished line above it.
function unfilter(filter, line, above) {
  for (let i = 0; i < line.length; ++i) {
    const left = i < colours ? 0 : line[i - colours], corner = i < colours ? 0 : above[i - colours];
    line[i] += [0, left, above[i], (left + above[i]) >> 1, paeth(left, above[i], corner)][filter];
  }
}

function records({width, height, lines}, labels) {
  if (width !== pixels) fail(`the sheet is ${width} pixels wide; a picture has ${pixels}`);
  if (labels.length !== height || labels.some(label => !(label >= 0 && label < classes))) fail(`there are not ${height} labels from 0 to 9`);
  const out = Buffer.alloc(height * (1 + colours * pixels));
  let above = Buffer.alloc(colours * width);
  for (let row = 0; row < height; ++row) {
    const start = row * (1 + colours * width), line = lines.subarray(start + 1, start + 1 + colours * width);
    unfilter(lines[start], line, above);
    const record = row * (1 + colours * pixels);
    out[record] = labels[row];
    for (let pixel = 0; pixel < pixels; ++pixel)
      for (let colour = 0; colour < colours; ++colour)
        out[record + 1 + colour * pixels + pixel] = line[pixel * colours + colour];
    above = line;
  }
  return out;
}

const [sheetFile, labelFile, first, outFile] = process.argv.slice(2);
if (!outFile) fail("needs SHEET.png LABELS.json FIRST OUT.bin");
const sheet = readSheet(sheetFile);
const labels = JSON.parse(readFileSync(labelFile, "utf8")).slice(Number(first), Number(first) + sheet.height);
writeFileSync(outFile, records(sheet, labels));
