#include "app/printable_stream.hpp"

#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/printable.hpp"

namespace rubato::app {

class PrintableStream::Buffer final : public std::streambuf {
 public:
  Buffer(std::streambuf& inner, std::size_t longest) : inner_{inner}, longest_{longest} {}

  std::streambuf& inner() { return inner_; }

 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    const char byte = traits_type::to_char_type(character);
    return add({&byte, 1}) ? character : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    return add({text, static_cast<std::size_t>(count)}) ? count : 0;
  }
  int sync() override {
    const std::lock_guard lock(mutex_);
    return pass_on(std::exchange(waiting_, {})) && inner_.pubsync() == 0 ? 0 : -1;
  }

 private:
  // Whole lines leave at once, so that no character is torn.
  bool add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    bool is_taken = true;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      waiting_ += text.substr(0, end);
      is_taken = pass_on(std::exchange(waiting_, {})) && inner_.sputc('\n') != traits_type::eof() && is_taken;
      shown_ = 0;
      text.remove_prefix(end + 1);
    }
    waiting_ += text;
    return is_taken;
  }

  bool pass_on(std::string_view part) {
    constexpr std::size_t least = 3;  // "..."
    if (part.empty() || shown_ + least > longest_) return true;
    const std::string text = printable(part, longest_ - shown_);
    shown_ += text.size();
    return inner_.sputn(text.data(), static_cast<std::streamsize>(text.size())) == static_cast<std::streamsize>(text.size());
  }

  std::mutex mutex_;
  std::streambuf& inner_;
  std::size_t longest_;
  std::string waiting_;    // of a line without its end
  std::size_t shown_ = 0;  // bytes of this line
};

PrintableStream::PrintableStream(std::ostream& stream, std::size_t longest)
    : stream_{stream}, buffer_{std::make_unique<Buffer>(*stream.rdbuf(), longest)} {
  stream_.rdbuf(buffer_.get());
}

PrintableStream::~PrintableStream() {
  stream_.flush();
  stream_.rdbuf(&buffer_->inner());
}

}  // namespace rubato::app
