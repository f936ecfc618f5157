// Identities: the pair of CURVE keys by which the hosts of a run know each other, and the files that keep them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace rubato {

/// Characters of a key as Z85 text.
inline constexpr std::size_t key_characters = 40;

/// A secret key; its memory is wiped when it goes.
class SecretKey {
 public:
  SecretKey() = default;
  /// Throws std::invalid_argument if that is no key; the sentence does not repeat it.
  SecretKey(std::string_view z85, const std::string& what);
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  bool is_there() const { return z85_[0] != 0; }
  const char* z85() const { return z85_.data(); }
  /// Its other half.
  std::string public_key() const;

 private:
  std::array<char, key_characters + 1> z85_{};
};

struct Identity {
  SecretKey secret;
  std::string public_key;
};

/// From the system's randomness.
Identity make_identity();

/// What is wrong with the text as a public key; nothing if it is one.
std::string public_key_fault(const std::string& text);

/// Throws std::invalid_argument, naming `what` and the text, unless it is a public key.
void check_public_key(const std::string& text, const std::string& what);

struct IdentityFiles {
  std::filesystem::path secret;
  std::filesystem::path public_key;
};

/// Writes NAME.secret, which only its owner may read from its first byte on, and NAME.public. Nothing is overwritten. A
/// folder that is not there is made, for its owner alone. Throws std::invalid_argument for a name that is no file name,
/// and if the files cannot be made.
IdentityFiles write_identity(const Identity& identity, const std::filesystem::path& folder, const std::string& name);

/// Throws std::invalid_argument if the file (a link is followed) is not ours, if others may read or write it, or if it
/// holds no key.
SecretKey read_secret_key(const std::filesystem::path& file);

}  // namespace rubato
