#include "tests/learning/support.hpp"

#include <lzma.h>
#include <zlib.h>

namespace rubato::test {

std::vector<unsigned char> gzipped(std::span<const unsigned char> bytes) {
  z_stream state{};
  deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::vector<unsigned char> out(deflateBound(&state, bytes.size()) + 64);
  state.next_in = const_cast<unsigned char*>(bytes.data());
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = out.data();
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::vector<unsigned char> xz_packed(std::span<const unsigned char> bytes) {
  std::vector<unsigned char> out(lzma_stream_buffer_bound(bytes.size()));
  std::size_t size = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, bytes.data(), bytes.size(), out.data(), &size, out.size());
  out.resize(size);
  return out;
}

std::vector<unsigned char> npy_bytes(const std::string& type, const std::string& shape, std::span<const unsigned char> numbers) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');
  header += '\n';
  std::vector<unsigned char> bytes = bytes_of("\x93NUMPY");
  bytes.insert(bytes.end(),
               {1, 0, static_cast<unsigned char>(header.size() % 256), static_cast<unsigned char>(header.size() / 256)});
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), numbers.begin(), numbers.end());
  return bytes;
}

namespace {

void put(std::vector<unsigned char>& out, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<unsigned char>(number >> 8 * i));
}

// Raw deflate is gzip's without the header of 10 bytes and the trailer of 8.
std::vector<unsigned char> deflated(const std::vector<unsigned char>& bytes) {
  const std::vector<unsigned char> packed = gzipped(bytes);
  return {packed.begin() + 10, packed.end() - 8};
}

}  // namespace

std::vector<unsigned char> zip_of(const std::vector<ZipFile>& files, bool is_deflated, bool has_zip64) {
  std::vector<unsigned char> archive, directory;
  const auto head = [&](std::vector<unsigned char>& out, const ZipFile& file, std::size_t stored, std::size_t extra) {
    put(out, 0, 2), put(out, is_deflated ? 8 : 0, 2), put(out, 0, 4);
    put(out, crc32_z(0, file.bytes.data(), file.bytes.size()), 4);
    put(out, has_zip64 ? 0xffffffff : stored, 4), put(out, has_zip64 ? 0xffffffff : file.bytes.size(), 4);
    put(out, file.name.size(), 2), put(out, has_zip64 ? extra : 0, 2);
  };
  for (const ZipFile& file : files) {
    const std::vector<unsigned char> stored = is_deflated ? deflated(file.bytes) : file.bytes;
    const std::size_t offset = archive.size();
    const auto sizes = [&](std::vector<unsigned char>& out, bool has_offset) {
      if (!has_zip64) return;
      put(out, 1, 2), put(out, has_offset ? 24 : 16, 2), put(out, file.bytes.size(), 8), put(out, stored.size(), 8);
      if (has_offset) put(out, offset, 8);
    };
    put(archive, 0x04034b50, 4), put(archive, 20, 2), head(archive, file, stored.size(), 20);
    archive.insert(archive.end(), file.name.begin(), file.name.end());
    sizes(archive, false);
    archive.insert(archive.end(), stored.begin(), stored.end());
    put(directory, 0x02014b50, 4), put(directory, 20, 2), put(directory, 20, 2), head(directory, file, stored.size(), 28);
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4);
    put(directory, has_zip64 ? 0xffffffff : offset, 4);
    directory.insert(directory.end(), file.name.begin(), file.name.end());
    sizes(directory, true);
  }
  const std::size_t offset = archive.size();
  archive.insert(archive.end(), directory.begin(), directory.end());
  put(archive, 0x06054b50, 4), put(archive, 0, 4), put(archive, files.size(), 2), put(archive, files.size(), 2);
  put(archive, directory.size(), 4), put(archive, offset, 4), put(archive, 0, 2);
  return archive;
}

std::vector<unsigned char> cifar_bytes(std::size_t count) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<unsigned char>(i % 10));
    for (std::size_t place = 0; place < 3072; ++place) bytes.push_back(static_cast<unsigned char>(i + place));
  }
  return bytes;
}

std::vector<unsigned char> idx_bytes(const std::vector<std::uint32_t>& dimensions, unsigned modulus) {
  std::vector<unsigned char> bytes{0, 0, 8, static_cast<unsigned char>(dimensions.size())};
  std::size_t items = 1;
  for (const std::uint32_t dimension : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<unsigned char>(dimension >> shift));
    items *= dimension;
  }
  for (std::size_t i = 0; i < items; ++i) bytes.push_back(static_cast<unsigned char>(i % modulus));
  return bytes;
}

}  // namespace rubato::test
