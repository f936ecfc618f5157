#include "actors/virtual/checkpointer.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "algos/arithmetic.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/fingerprint.hpp"
#include "results/summary.hpp"

namespace rubato {

namespace fs = std::filesystem;

SlotIndex ResumingDispatcher::open_slot(std::uint32_t receivers) {
  const SlotIndex slot = dispatcher_.open_slot(receivers);
  if (slot >= names_.size()) names_.resize(std::max<std::size_t>(slot + 1, 2 * names_.size()));
  names_[slot] = ++publications_;
  return slot;
}

void ResumingDispatcher::perform(const Step& step) {
  if (!passes_over_) return dispatcher_.perform(step);
  dispatcher_.record(step);
  client_pool_.settle(step, {});
}

void ResumingDispatcher::open_sample(const SampleHeader& header) {
  if (!passes_over_) dispatcher_.open_sample(header);
}

std::vector<ResumingDispatcher::Named> ResumingDispatcher::payloads() const {
  std::vector<Named> payloads;
  client_pool_.slots.visit_in_use([&](SlotIndex slot) { payloads.push_back({names_[slot], slot}); });
  std::ranges::sort(payloads);
  return payloads;
}

bool Checkpointer::is_asked_for(const config::Experiment& experiment, const RunOptions& options) {
  return !options.resume_from.empty() || (!options.checkpoints.empty() && experiment.checkpoint_every > 0);
}

namespace {

RunIdentity identity_of(const config::Experiment& experiment, const RunOptions& options, const Task& task) {
  return {version(), fingerprint(experiment), arithmetic(), task.data_digest(), options.checks};
}

void refuse_other(const fs::path& file, const RunIdentity& theirs, const RunIdentity& ours) {
  const auto compare = [&](const char* what, const std::string& there, const std::string& here) {
    if (there != here)
      throw std::invalid_argument(file.string() + " is of another " + what + ": \"" + there + "\", this one is \"" + here + '"');
  };
  compare("version of Rubato", theirs.rubato, ours.rubato);
  compare("build or machine", theirs.arithmetic, ours.arithmetic);
  compare("experiment", theirs.experiment, ours.experiment);
  compare("data set", theirs.data, ours.data);
  const std::string check = theirs.is_checked ? "with --check" : "without --check";
  if (theirs.is_checked != ours.is_checked)
    throw std::invalid_argument(file.string() + " is of a run " + check + ": resume it " + check);
}

// Of the checkpoint to go on from.
template <class Read>
void read_checkpoint(const fs::path& file, Read read) try {
  SealedReader reader(file);
  read(reader);
} catch (const BadArchive& fault) {
  throw RunFailed(file.string() + " cannot be gone on from: " + fault.what());
}

}  // namespace

void Checkpointer::judge(const config::Experiment& experiment, const RunOptions& options, const Task& task) {
  if (options.resume_from.empty()) return;
  read_checkpoint(options.resume_from, [&](SealedReader& reader) {
    refuse_other(options.resume_from, RunCheckpointFile::read_head(reader).identity, identity_of(experiment, options, task));
  });
}

Checkpointer::Checkpointer(const config::Experiment& experiment, const RunOptions& options, const Task& task,
                           VirtualRun& virtual_run, StepDispatcher& dispatcher)
    : options_{options},
      virtual_run_{virtual_run},
      client_pool_{virtual_run.client_pool()},
      dispatcher_{dispatcher, virtual_run.client_pool(), !options.resume_from.empty()},
      identity_{identity_of(experiment, options, task)},
      until_{Time{from_seconds(experiment.until)}},
      every_{options.checkpoints.empty() || experiment.checkpoint_every == 0
                 ? Duration::zero()
                 : std::max(from_seconds(experiment.checkpoint_every), Duration{1})},
      payload_bytes_{task.dimension() * task.scalar_bytes()} {}

void Checkpointer::begin(Conductor& conductor) {
  conductor_ = &conductor;
  if (!options_.checkpoints.empty()) SealedSeries(options_.checkpoints).remove_unfinished();
  if (!options_.resume_from.empty()) go_back(options_.resume_from);
  set_next_mark(options_.resume_from.empty() ? Time{} : conductor.next_event());
  start_ = Clock::now();
}

// ---- going on from a checkpoint

void Checkpointer::go_back(const fs::path& file) {
  read_checkpoint(file, [&](SealedReader& reader) {
    earlier_ = RunCheckpointFile::read_head(reader);
    virtual_run_.go_on_from(earlier_.divergences);
    walk_again(file);
    load(reader);
  });
  if (StopRule* rule = virtual_run_.control().stop_rule) rule->recall(earlier_.stop_values);
  dispatcher_.perform_from_here();
}

void Checkpointer::walk_again(const fs::path& file) {
  constexpr std::uint64_t slice = 1 << 18;
  Conductor& conductor = *conductor_;
  const Answers& answers = earlier_.answers;
  std::size_t answered = 0;
  conductor.pause_after(earlier_.at);
  while (conductor.walk(slice) && !conductor.is_paused()) {
    if (conductor.awaits_answer()) {
      if (answered == answers.size()) break;
      conductor.answer(answers[answered++]);
    }
    if (options_.on_progress) options_.on_progress({to_seconds(conductor.now()), 0, conductor.events(), std::nullopt});
  }
  if (options_.on_progress) options_.on_progress({to_seconds(earlier_.at), 0, conductor.events(), std::nullopt});
  const bool is_same = conductor.is_paused() && conductor.steps() == earlier_.steps && conductor.events() == earlier_.events &&
                       timeline_digest(conductor.hashes()) == earlier_.timeline;
  if (!is_same) throw std::invalid_argument(file.string() + " has other steps behind it than this build and these files lead to");
}

void Checkpointer::load(SealedReader& reader) {
  if (earlier_.clients != client_pool_.clients.size()) throw BadArchive("it has another number of clients");
  for (const auto& client : client_pool_.clients) {
    Archive archive(reader.take_list(), client_pool_.pool);
    client->archive(archive);
    archive.expect_end();
  }
  const auto payloads = dispatcher_.payloads();
  if (earlier_.payloads != payloads.size()) throw BadArchive("it has other payloads under way");
  for (const auto& [name, slot] : payloads) {
    Archive archive(reader.take_list(), client_pool_.pool);
    std::uint64_t written = 0;
    Payload payload;
    archive(written);
    if (written != name) throw BadArchive("it has other payloads under way");
    archive.payload(payload);
    archive.expect_end();
    client_pool_.slots.replace(slot, std::move(payload));
  }
}

void Checkpointer::complete(RunResult& result) const {
  result.wall_seconds += earlier_.wall_seconds;
  result.math_seconds += earlier_.math_seconds;
  if (result.message_seconds) *result.message_seconds += earlier_.message_seconds;
  result.evaluation_seconds += earlier_.evaluation_seconds;
  result.peak_payload_bytes = std::max(result.peak_payload_bytes, earlier_.peak_payload_bytes);
  if (result.samples.empty() && earlier_.last_sample) result.samples.push_back(*earlier_.last_sample);
}

// ---- writing

// The first multiple of the period that is not before the next event: where nothing happens nothing is written.
void Checkpointer::set_next_mark(Time next_event) {
  mark_ = Time::max();
  if (every_ > Duration::zero()) {
    const Duration next = std::max(next_event.time_since_epoch(), Duration{1});
    number_ = static_cast<std::uint64_t>((next - Duration{1}) / every_) + 1;
    const bool is_late = number_ > static_cast<std::uint64_t>(until_.time_since_epoch() / every_);
    if (!is_late) mark_ = Time{every_ * static_cast<std::int64_t>(number_)};
  }
  conductor_->pause_after(mark_);
}

void Checkpointer::on_pause() {
  if (!client_pool_.has_failed()) try {
      write();
    } catch (const std::system_error& error) {
      throw RunFailed(error.what());
    }
  set_next_mark(conductor_->next_event());
}

void Checkpointer::write() {
  RunCheckpoint head = describe();
  const auto payloads = dispatcher_.payloads();
  head.clients = client_pool_.clients.size();
  head.payloads = payloads.size();
  SealedSeries(options_.checkpoints).write(number_, [&](SealedWriter& writer) {
    RunCheckpointFile::write_head(writer, head);
    for (const auto& client : client_pool_.clients) {
      Archive archive;
      client->archive(archive);
      writer.add_list(archive.bytes());
    }
    for (auto [name, slot] : payloads) {
      Archive archive;
      Payload payload = client_pool_.slots.payload(slot);
      archive(name);
      archive.payload(payload);
      writer.add_list(archive.bytes());
    }
  });
}

RunCheckpoint Checkpointer::describe() const {
  RunCheckpoint head;
  head.identity = identity_;
  head.number = number_;
  head.at = mark_;
  head.steps = conductor_->steps();
  head.events = conductor_->events();
  head.timeline = timeline_digest(conductor_->hashes());
  head.answers = dispatcher_.answers();
  head.wall_seconds = earlier_.wall_seconds + std::chrono::duration<double>(Clock::now() - start_).count();
  head.math_seconds = earlier_.math_seconds + client_pool_.math_seconds();
  head.message_seconds = earlier_.message_seconds + client_pool_.message_seconds().value_or(0);
  head.evaluation_seconds = earlier_.evaluation_seconds + client_pool_.evaluation_seconds();
  head.peak_payload_bytes =
      std::max(earlier_.peak_payload_bytes, static_cast<std::uint64_t>(client_pool_.slots.peak()) * payload_bytes_);
  head.divergences = virtual_run_.reporter().divergences();
  head.last_sample = virtual_run_.samples().empty() ? earlier_.last_sample : virtual_run_.samples().back();
  if (const StopRule* rule = virtual_run_.control().stop_rule) head.stop_values = rule->newest();
  if (options_.samples_file.empty()) return head;
  sync_file(options_.samples_file);
  head.samples_bytes = fs::file_size(options_.samples_file);
  head.samples_digest = digest_of_start(options_.samples_file, head.samples_bytes);
  return head;
}

}  // namespace rubato
