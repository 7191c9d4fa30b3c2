// Grey PNG files of 16 bits a pixel, which hold label maps without loss.

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) {
    value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  }
  return value;
});

function checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** One chunk of a PNG file: length, name, content, checksum of name and content. */
function pngChunk(name, content) {
  const chunk = new Uint8Array(12 + content.length);
  const numbers = new DataView(chunk.buffer);
  numbers.setUint32(0, content.length);
  chunk.set([...name].map((letter) => letter.charCodeAt(0)), 4);
  chunk.set(content, 8);
  numbers.setUint32(8 + content.length, checksum(chunk.subarray(4, 8 + content.length)));
  return chunk;
}

/** Rows as PNG wants them: the kind of filter (none), then two bytes a pixel, high byte first. */
function pngRows(labels, width, height) {
  const rows = new Uint8Array(height * (1 + 2 * width));
  let place = 0;
  for (let y = 0; y < height; y++) {
    rows[place++] = 0;
    for (let x = 0; x < width; x++) {
      const label = labels[y * width + x];
      rows[place++] = label >>> 8;
      rows[place++] = label & 255;
    }
  }
  return rows;
}

/** Write a label map of at most 65,536 labels as a PNG file. */
async function encodePng(labels, width, height) {
  const header = new Uint8Array(13);
  const numbers = new DataView(header.buffer);
  numbers.setUint32(0, width);
  numbers.setUint32(4, height);
  header[8] = 16; // bits a pixel; the zeros that follow mean grey, deflate, not interlaced
  const stream = new Blob([pngRows(labels, width, height)])
    .stream()
    .pipeThrough(new CompressionStream("deflate"));
  const content = new Uint8Array(await new Response(stream).arrayBuffer());
  const parts = [
    Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10),
    pngChunk("IHDR", header),
    pngChunk("IDAT", content),
    pngChunk("IEND", new Uint8Array(0)),
  ];
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
