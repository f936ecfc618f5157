#include "transports/zmq_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace rubato {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view z85_alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

bool is_key(std::string_view text) {
  const auto is_z85 = [](char c) { return z85_alphabet.find(c) != std::string_view::npos; };
  if (text.size() != key_characters || !std::ranges::all_of(text, is_z85)) return false;
  std::array<char, key_characters + 1> copy{};
  std::array<std::uint8_t, 32> decoded{};
  std::ranges::copy(text, copy.begin());
  const bool is_decoded = zmq_z85_decode(decoded.data(), copy.data()) != nullptr;
  explicit_bzero(copy.data(), copy.size());
  explicit_bzero(decoded.data(), decoded.size());
  return is_decoded;
}

std::string allowed_key() { return "a key has " + std::to_string(key_characters) + " characters of Z85"; }

[[noreturn]] void refuse(const fs::path& file, const std::string& why) { throw std::invalid_argument(file.string() + ": " + why); }

std::string system_reason() { return std::strerror(errno); }

// A descriptor that is closed when it goes.
class File {
 public:
  File(const fs::path& path, int flags, mode_t mode = 0) : descriptor_{open(path.c_str(), flags | O_CLOEXEC, mode)} {}
  ~File() {
    if (is_open()) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// A folder that only its owner may look into, where there is none; those above it have the usual rights.
void make_folder(const fs::path& folder) {
  const fs::path place = folder.has_filename() ? folder : folder.parent_path();
  std::error_code none;  // making the last one will say it
  if (place.has_parent_path()) fs::create_directories(place.parent_path(), none);
  if (!place.empty() && mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) refuse(folder, "cannot be made: " + system_reason());
}

// A new file with one line; 0666 leaves the rights to the umask.
void write_new(const fs::path& path, std::string_view line, mode_t mode) {
  const File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file.is_open() && errno == EEXIST) refuse(path, "is there already; a key is never overwritten");
  if (!file.is_open()) refuse(path, "cannot be made: " + system_reason());
  const bool is_written = write(file.descriptor(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                          write(file.descriptor(), "\n", 1) == 1 && fsync(file.descriptor()) == 0;
  if (is_written) return;
  const std::string reason = system_reason();
  unlink(path.c_str());
  refuse(path, "cannot be written: " + reason);
}

void check_owner(const fs::path& path, const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) refuse(path, "is no file with a secret key");
  if (facts.st_uid != geteuid()) refuse(path, "belongs to another user; a secret key must be our own file");
  if ((facts.st_mode & 077) != 0)
    refuse(path, "group or others may read or write this secret key; allow only its owner: chmod 600");
}

bool is_file_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= 200 && !name.starts_with('.') && !name.starts_with('-') && std::ranges::all_of(name, fits);
}

}  // namespace

SecretKey::SecretKey(std::string_view z85, const std::string& what) {
  if (!is_key(z85)) throw std::invalid_argument(what + " is no secret key; " + allowed_key());
  std::ranges::copy(z85, z85_.begin());
}

SecretKey::~SecretKey() { explicit_bzero(z85_.data(), z85_.size()); }

std::string SecretKey::public_key() const {
  std::array<char, key_characters + 1> key{};
  zmq_curve_public(key.data(), z85_.data());
  return key.data();
}

Identity make_identity() {
  std::array<char, key_characters + 1> public_key{}, secret{};
  if (zmq_curve_keypair(public_key.data(), secret.data()) != 0)
    throw std::runtime_error("this build of ZeroMQ cannot make CURVE keys");
  Identity identity{SecretKey(secret.data(), "a fresh key"), public_key.data()};
  explicit_bzero(secret.data(), secret.size());
  return identity;
}

std::string public_key_fault(const std::string& text) { return is_key(text) ? "" : "is no key; " + allowed_key(); }

void check_public_key(const std::string& text, const std::string& what) {
  if (const std::string fault = public_key_fault(text); !fault.empty())
    throw std::invalid_argument("the public key of " + what + ", \"" + text + "\", " + fault);
}

IdentityFiles write_identity(const Identity& identity, const fs::path& folder, const std::string& name) {
  if (!is_file_name(name))
    throw std::invalid_argument("\"" + name +
                                "\" cannot name a host's files; letters, digits, '.', '-' and '_' can, not first '.' or '-'");
  make_folder(folder);
  const IdentityFiles files{folder / (name + ".secret"), folder / (name + ".public")};
  if (fs::exists(fs::symlink_status(files.public_key))) refuse(files.public_key, "is there already; a key is never overwritten");
  write_new(files.secret, identity.secret.z85(), 0600);
  write_new(files.public_key, identity.public_key, 0644);
  return files;
}

SecretKey read_secret_key(const fs::path& path) {
  std::error_code not_there;
  const fs::path real = fs::canonical(path, not_there);
  if (not_there) refuse(path, "cannot be read: " + not_there.message());
  const File file(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat facts {};
  if (!file.is_open() || fstat(file.descriptor(), &facts) != 0) refuse(real, "cannot be read: " + system_reason());
  check_owner(real, facts);
  std::array<char, 64> text{};
  const ssize_t size = read(file.descriptor(), text.data(), text.size());
  if (size < 0) refuse(real, "cannot be read: " + system_reason());
  std::string_view line{text.data(), static_cast<std::size_t>(size)};
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  SecretKey key(line, real.string());
  explicit_bzero(text.data(), text.size());
  return key;
}

}  // namespace rubato
