#include "actors/core/performer.hpp"

namespace rubato {

StepResult perform(Performer& performer, SavedStates& saved, const Step& step, std::span<const Payload* const> payloads,
                   ThreadMemory& memory, TensorPool& pool) {
  StepResult result;
  switch (step.kind) {
    case StepKind::begin:
      performer.begin(memory);
      break;
    case StepKind::compute:
      performer.compute(step, memory);
      break;
    case StepKind::publish:
      result.published = performer.publish(step, memory);
      break;
    case StepKind::merge:
      performer.merge(step, payloads, memory);
      break;
    case StepKind::adopt:
      performer.adopt(*payloads.front());
      break;
    case StepKind::reclaim:
      performer.reclaim(*payloads.front(), memory);
      break;
    case StepKind::decide:
      result.is_yes = performer.decide(step, memory);
      break;
    case StepKind::reset:
      performer.reset(memory);
      break;
    case StepKind::save: {
      Archive archive;
      performer.archive(archive);
      saved.keep(step.index, archive.take());
      break;
    }
    case StepKind::load: {
      Archive archive(saved.at(step.index), pool);
      performer.archive(archive);
      archive.expect_end();
      break;
    }
    case StepKind::discard:
    case StepKind::measure:
      break;
  }
  return result;
}

}  // namespace rubato
