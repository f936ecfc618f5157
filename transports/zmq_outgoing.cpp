#include "transports/zmq_outgoing.hpp"

#include <algorithm>
#include <utility>

#include "transports/zmq_address.hpp"
#include "transports/zmq_buffers.hpp"

namespace rubato {

namespace {

// Below, a copy costs less than the book-keeping of a loan.
constexpr std::size_t least_loan = 4096;

}  // namespace

// A tensor that ZeroMQ reads; it lets go of it on a thread of its own.
struct ZmqOutgoing::Loan {
  Tensor tensor;
  ZmqOutgoing* lender;
  std::size_t bytes;

  static void end(void*, void* hint) {
    const std::unique_ptr<Loan> loan{static_cast<Loan*>(hint)};
    loan->tensor = Tensor{};
    loan->lender->give_back(loan->bytes);
  }
};

ZmqOutgoing::ZmqOutgoing(zmq::socket_t socket, Envelope envelope, const Limits& limits, KnownSums* sums,
                         std::function<void()> on_room)
    : socket_{std::move(socket)},
      envelope_{envelope},
      limits_{limits},
      sums_{sums},
      on_room_{std::move(on_room)},
      queue_{limits.queue_bytes} {}

void ZmqOutgoing::connect(const std::string& address) {
  socket_.set(zmq::sockopt::ipv6, is_ipv6(address));
  fit_send_buffer(socket_, address);
  if (stays_here(address)) sums_ = nullptr;
  socket_.connect(address);
}

ParcelQueue::Outcome ZmqOutgoing::put(Parcel parcel) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return {.is_taken = false};
  const std::size_t before = queue_.size();
  const auto outcome = queue_.put(std::move(parcel));
  waiting_ += queue_.size() - before;
  return outcome;
}

bool ZmqOutgoing::take_next() {
  const std::lock_guard lock(mutex_);
  if (queue_.is_empty()) return false;
  leaving_ = queue_.take();
  left_bytes_ = 0;
  return true;
}

bool ZmqOutgoing::pump(int most) {
  is_blocked_ = false;
  int frames = 0;
  while (frames < most && has_room() && (leaving_ || take_next()) && send_frame()) ++frames;
  return frames > 0;
}

bool ZmqOutgoing::send_frame() {
  const std::size_t bytes = std::min(limits_.frame.piece_bytes, leaving_->bytes() - left_bytes_);
  if (!is_written_) {
    ++envelope_.sequence;
    write_frame(envelope_, *leaving_, left_bytes_, bytes, sums_, frame_);
    is_written_ = true;
  }
  const auto flags = frame_.slices.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore;
  is_blocked_ = !socket_.send(zmq::buffer(frame_.first_part), flags | zmq::send_flags::dontwait);
  if (is_blocked_) return false;
  // Once the first part is taken, so are the others; if the connection breaks meanwhile ZeroMQ drops them all.
  for (std::size_t i = 0; i < frame_.slices.size(); ++i) send_slice(frame_.slices[i], i + 1 < frame_.slices.size());
  is_written_ = false;
  left_bytes_ += bytes;
  if (left_bytes_ == leaving_->bytes()) finish_parcel();
  return true;
}

void ZmqOutgoing::send_slice(const TensorSlice& slice, bool has_more) {
  const Tensor& tensor = leaving_->tensors[slice.tensor];
  const std::byte* const data = tensor.data<std::byte>() + slice.first;
  zmq::message_t message;
  if (slice.bytes < least_loan) {
    message.rebuild(data, slice.bytes);
  } else {
    in_flight_ += slice.bytes;
    auto loan = std::make_unique<Loan>(tensor, this, slice.bytes);
    // ZeroMQ takes a pointer to what may be written, and only reads.
    message.rebuild(const_cast<std::byte*>(data), slice.bytes, Loan::end, loan.get());
    static_cast<void>(loan.release());
  }
  const auto flags = has_more ? zmq::send_flags::sndmore : zmq::send_flags::none;
  static_cast<void>(socket_.send(message, flags | zmq::send_flags::dontwait));
}

void ZmqOutgoing::finish_parcel() {
  leaving_.reset();
  --waiting_;
}

void ZmqOutgoing::give_back(std::size_t bytes) {
  const std::size_t before = in_flight_.fetch_sub(bytes);
  if (before >= limits_.flight_bytes && before - bytes < limits_.flight_bytes) on_room_();
}

void ZmqOutgoing::close(std::chrono::milliseconds linger) {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    queue_.clear();
  }
  leaving_.reset();
  socket_.set(zmq::sockopt::linger, static_cast<int>(linger.count()));
  socket_.close();
}

}  // namespace rubato
