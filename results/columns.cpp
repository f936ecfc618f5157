#include "results/columns.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "results/summary.hpp"

namespace rubato {

namespace {

Number number(std::uint64_t value) { return value; }
Number number(std::uint32_t value) { return std::uint64_t{value}; }
Number number(double value) { return value; }
Number number(Time value) { return to_seconds(value); }

template <class Row, class Part>
Row owner_of(Part Row::*);

// What a path of members leads to.
template <auto First, auto... Rest>
Number of(const decltype(owner_of(First))& row) {
  return number(((row.*First).*....*Rest));
}

// What an optional member holds, or a member of what it holds; not known where it is empty.
template <auto Part>
Number if_there(const Sample& sample) {
  return number(sample.*Part ? *(sample.*Part) : not_known);
}
template <auto Part, auto Inner>
Number if_there(const Sample& sample) {
  return number(sample.*Part ? (*(sample.*Part)).*Inner : not_known);
}

// What this share of values does not exceed, between two of them along a straight line.
double quantile_of(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

AccuracySpread accuracy_spread_of(const Sample& sample) {
  std::vector<double> sorted = sample.accuracies;
  std::ranges::sort(sorted);
  const auto best = std::ranges::max_element(sample.accuracies);
  return {quantile_of(sorted, .05), quantile_of(sorted, .5), quantile_of(sorted, .95), sorted.back(),
          sample.header.client(static_cast<std::size_t>(best - sample.accuracies.begin()))};
}

// What curves are drawn along.
constexpr SampleColumn along(const Column<Sample>& column, std::string_view name, std::string_view unit, std::string_view title) {
  return {column, "", {Role::axis, name, unit, title}};
}

// What a key of [metrics] asks for.
constexpr SampleColumn asked(std::string_view key, const Column<Sample>& column, std::string_view summary = "") {
  return {column, summary, {}, key};
}

constexpr SampleColumn samples[] = {
    {{"sample", "its number, from 0; a host that goes on in real time counts from 0 again",
      of<&Sample::header, &SampleHeader::number>}},
    along({"seconds", "of the experiment", of<&Sample::header, &SampleHeader::at>}, "seconds", "s", "time of the experiment"),
    {{"events", "events so far: ticks, arrivals, closings of windows", of<&Sample::header, &SampleHeader::events>}},
    {{"computations", "that clients began", of<&Sample::header, &SampleHeader::counts, &MessageCounts::computations>}},
    {{"messages_sent", "to a receiver each, models of unifications and hand-overs included",
      [](const Sample& sample) { return number(sample.header.counts.sent + sample.header.model_messages); }}},
    {{"messages_delivered", "that a mailbox kept", of<&Sample::header, &SampleHeader::counts, &MessageCounts::kept>}},
    {{"messages_lost", "on the way: by a link, by a partition, or because the receiver was away",
      [](const Sample& sample) { return number(sample.header.counts.lost_in_all()); }}},
    {{"bytes_wire", "of what was sent: payloads, and 64 bytes a message",
      [](const Sample& sample) { return number(wire_bytes(sample.traffic)); }}},
    {{"accuracy_mean", "on the test part: mean over the measured clients", of<&Sample::accuracy_mean>},
     "/accuracy/mean",
     {Role::measure, "accuracy", "share", "accuracy, mean of clients", "accuracy"}},
    {{"accuracy_std", "its deviation, of the population of measured clients", of<&Sample::accuracy_deviation>}, "/accuracy/std"},
    {{"accuracy_mean_model", "of the mean of their models", of<&Sample::accuracy_mean_model>},
     "/accuracy/mean_model",
     {Role::measure, "accuracy_mean_model", "share", "accuracy of the mean model", "of mean model"}},
    {{"f1_macro", "mean over the measured clients of the F1 score that counts classes alike", of<&Sample::f1_macro>},
     "/accuracy/f1_macro"},
    {{"loss_mean", "on the test part: mean over the measured clients", of<&Sample::loss_mean>},
     "/loss/mean",
     {Role::measure, "loss", "", "loss, mean of clients", "loss"}},
    {{"loss_mean_model", "of the mean of their models", of<&Sample::loss_mean_model>},
     "/loss/mean_model",
     {Role::measure, "loss_mean_model", "", "loss of the mean model"}},
    {{"consensus", "sum over the measured clients of the squared distance to the mean of their models", of<&Sample::consensus>},
     "/consensus",
     {Role::measure, "consensus", "", "consensus distance", "consensus"}},
    along({"paper_bits", "of what was sent as papers count it: 64 bits a number, unless the algorithm compresses",
           of<&Sample::traffic, &Traffic::paper_bits>},
          "bits", "bit", "bits, as the papers count"),
    along({"gradients", "computations that had a gradient", of<&Sample::traffic, &Traffic::gradients>}, "gradients", "",
          "gradients computed"),
    along({"cumulated_delay", "of rounds in which links or computations have chances; else 0",
           of<&Sample::header, &SampleHeader::cumulated_delay>},
          "delay", "", "cumulated delay"),
    {{"mass_defect", "the largest sum over all clients that should be zero and is not, as an absolute value",
      [](const Sample& sample) { return number(sample.defect.name.empty() ? not_known : sample.defect.size); }},
     "/invariants/mass_defect"},
    {{"consensus_mean", "`consensus` divided by the measured clients", of<&Sample::consensus_mean>}, "/consensus_mean"},
    {{"f1_macro_mean_model", "of the mean of their models", of<&Sample::f1_macro_mean_model>}, "/accuracy/f1_macro_mean_model"},
    asked("metrics.stationarity", {"stationarity", "for each client, where `metrics.stationarity` asks for it",
                                   if_there<&Sample::stationarity, &Stationarity::per_client>}),
    along({"joules", "that all clients have spent, where anything costs anything; else 0",
           [](const Sample& sample) { return number(sample.header.energy.joules()); }},
          "joules", "", "energy, J"),
    {{"accuracy_min", "the lowest of the measured clients", of<&Sample::accuracy_min>},
     "/accuracy/min",
     {Role::measure, "accuracy_min", "share", "accuracy, worst client"}},
    {{"accuracy_min_client", "whose it is",
      [](const Sample& sample) { return sample.worst ? number(sample.worst->value) : not_known; }}},
    {{"clients_measured", "how many clients the scores of the row are of", of<&Sample::header, &SampleHeader::clients>}},
    asked("metrics.training",
          {"train_accuracy_mean",
           "where `metrics.training` asks for it, like the next three: mean over the measured clients of that on their "
           "own training rows",
           if_there<&Sample::training, &TrainingScores::accuracy_mean>},
          "/training/accuracy_mean"),
    asked("metrics.training",
          {"train_loss_mean", "the same of the loss, without l2", if_there<&Sample::training, &TrainingScores::loss_mean>},
          "/training/loss_mean"),
    asked("metrics.training",
          {"train_accuracy_mean_model", "mean over the measured clients of that of the mean of their models on their training rows",
           if_there<&Sample::training, &TrainingScores::accuracy_mean_model>},
          "/training/accuracy_mean_model"),
    asked("metrics.training",
          {"train_loss_mean_model", "the same of the loss", if_there<&Sample::training, &TrainingScores::loss_mean_model>},
          "/training/loss_mean_model"),
    asked("metrics.gradient_norm",
          {"gradient_norm",
           "of the mean of all clients' losses, with their l2, at the mean of their models, where `metrics.gradient_norm` "
           "asks for it, like the next",
           if_there<&Sample::gradient, &MeanGradient::norm>},
          "/gradient/norm"),
    asked("metrics.gradient_norm",
          {"objective", "that mean loss itself, and the penalty h of the algorithm",
           if_there<&Sample::gradient, &MeanGradient::objective>},
          "/gradient/objective"),
    asked(
        "metrics.mean_weights",
        {"gradient_norm_weighted", "the norm at the mean that `metrics.mean_weights` names", if_there<&Sample::gradient_weighted>},
        "/gradient/norm_weighted"),
    asked("metrics.stationarity", {"stationarity_prox_gradient",
                                   "of `stationarity`, before it is divided by the clients: the sum of squared proximal gradients",
                                   if_there<&Sample::stationarity, &Stationarity::prox_gradient>}),
    asked("metrics.stationarity",
          {"stationarity_tracking", "likewise: clients times the squared distance of the mean gradient and the mean tracker",
           if_there<&Sample::stationarity, &Stationarity::tracking>}),
    asked("metrics.tracked",
          {"consensus_y",
           "sum over the measured clients of the squared distance of their trackers y to the mean, where "
           "`metrics.tracked` or `metrics.stationarity` asks for it",
           if_there<&Sample::consensus_y>},
          "/tracked/consensus_y"),
    asked("metrics.tracked", {"consensus_nu", "the same of the momentum nu", if_there<&Sample::consensus_nu>},
          "/tracked/consensus_nu"),
    asked("metrics.joint_objective",
          {"joint_objective", "J of KD-PDFL, where `metrics.joint_objective` asks for it", if_there<&Sample::joint_objective>}),
    {{"accuracy_p5", "what one measured client in twenty does not exceed, between two clients along a straight line",
      if_there<&Sample::spread, &AccuracySpread::p5>}},
    {{"accuracy_p50", "the median of the measured clients", if_there<&Sample::spread, &AccuracySpread::p50>}},
    {{"accuracy_p95", "what one measured client in twenty exceeds", if_there<&Sample::spread, &AccuracySpread::p95>}},
    {{"accuracy_max", "the highest of the measured clients", if_there<&Sample::spread, &AccuracySpread::max>}},
    {{"accuracy_max_client", "whose it is, the first of them",
      [](const Sample& sample) { return sample.spread ? number(sample.spread->best.value) : not_known; }}},
    {{"owed_mass",
      "where clients meet in pairs and balances are kept (`--check`, and always in real time): the length of all that partners "
      "have decided for their askers and these have not heard of",
      if_there<&Sample::owed_mass>},
     "/invariants/owed_mass"},
};

constexpr ClientColumn clients[] = {
    {{"client", "its number", of<&ClientRow::client>}},
    {{"training_samples", "rows that it learns from", of<&ClientRow::training_samples>}},
    {{"computations", "that it began", of<&ClientRow::counts, &MessageCounts::computations>}},
    {{"publications", "times that it sent its model, to however many", of<&ClientRow::counts, &MessageCounts::publications>}},
    {{"sent", "messages that it sent, to a receiver each", of<&ClientRow::counts, &MessageCounts::sent>}},
    {{"lost", "those of them that a link lost", of<&ClientRow::counts, &MessageCounts::lost>}},
    {{"kept", "messages for it that its mailbox kept", of<&ClientRow::counts, &MessageCounts::kept>}},
    {{"late", "messages for it that were older than the deadline", of<&ClientRow::counts, &MessageCounts::late>}},
    {{"capped", "messages for it beyond the cap", of<&ClientRow::counts, &MessageCounts::capped>}},
    {{"superseded", "messages that it did not merge because a newer one of the same sender was there, or the round had gone on",
      of<&ClientRow::counts, &MessageCounts::superseded>}},
    {{"accuracy", "at the last sample", of<&ClientRow::accuracy>}},
    {{"loss", "at the last sample", of<&ClientRow::loss>}},
    {{"requested_rate", "real time: computations a second of the experiment that its timer asks for",
      of<&ClientRow::pace, &Pace::requested>},
     true},
    {{"achieved_rate", "real time: computations a second of the experiment that there were", of<&ClientRow::pace, &Pace::achieved>},
     true},
    {{"skipped_ticks",
      "real time: ticks that found the computation before unfinished, or were still to be handled when the run ended",
      of<&ClientRow::pace, &Pace::skipped>},
     true},
    {{"copies", "further deliveries of messages that it sent", of<&ClientRow::counts, &MessageCounts::copies>}},
    {{"lost_to_partition", "messages that it sent to another group, or that were on their way to it when the partition began",
      of<&ClientRow::counts, &MessageCounts::apart>}},
    {{"lost_to_absence", "messages for it that came while it was away, or were sent to an earlier life of it",
      of<&ClientRow::counts, &MessageCounts::absent>}},
    {{"duplicates", "messages for it that it had already", of<&ClientRow::counts, &MessageCounts::duplicates>}},
    {{"surplus", "of `superseded`: messages that were not kept because they were not needed any more",
      of<&ClientRow::counts, &MessageCounts::surplus>}},
    {{"stale", "messages for it of an earlier life of the sender, or of an older epoch",
      of<&ClientRow::counts, &MessageCounts::stale>}},
    {{"misshapen", "messages for it that fit no model of the run", of<&ClientRow::counts, &MessageCounts::misshapen>}},
    {{"repeated", "attempts beyond the first to get its messages through, where what a link loses is sent again",
      of<&ClientRow::counts, &MessageCounts::repeated>}},
    {{"bytes_wire", "of what it sent, models of unifications and hand-overs included",
      [](const ClientRow& row) { return number(wire_bytes(row.traffic)); }}},
    {{"paper_bits", "of that, as papers count it", of<&ClientRow::traffic, &Traffic::paper_bits>}},
    {{"gradients", "computations of it that had a gradient", of<&ClientRow::traffic, &Traffic::gradients>}},
    {{"compute_chance", "chance of a gradient at a tick or in a round, with `protocol.compute_chance`; else nan",
      of<&ClientRow::compute_chance>}},
};

constexpr Column<LinkRow> links[] = {
    {"sender", "the client that sends", of<&LinkRow::ends, &Edge::source, &ClientId::value>},
    {"receiver", "the client that receives", of<&LinkRow::ends, &Edge::target, &ClientId::value>},
    {"sent", "messages on this link", of<&LinkRow::counts, &LinkCounts::sent>},
    {"lost", "those of them that it lost", of<&LinkRow::counts, &LinkCounts::lost>},
    {"kept", "that the receiver's mailbox kept", of<&LinkRow::counts, &LinkCounts::kept>},
    {"refused", "that it did not keep: the sum of `late` to `misshapen`",
     [](const LinkRow& row) { return number(row.counts.refused()); }},
    {"copies", "further deliveries of the same messages", of<&LinkRow::counts, &LinkCounts::copies>},
    {"lost_to_partition", "on their way between two groups", of<&LinkRow::counts, &LinkCounts::apart>},
    {"lost_to_absence", "that came while the receiver was away, or were sent to an earlier life of it",
     of<&LinkRow::counts, &LinkCounts::absent>},
    {"late", "older than the deadline", of<&LinkRow::counts, &LinkCounts::late>},
    {"capped", "beyond the cap", of<&LinkRow::counts, &LinkCounts::capped>},
    {"duplicates", "that the receiver had already", of<&LinkRow::counts, &LinkCounts::duplicates>},
    {"surplus", "not needed any more when they came", of<&LinkRow::counts, &LinkCounts::surplus>},
    {"stale", "of an earlier life of the sender, or of an older epoch", of<&LinkRow::counts, &LinkCounts::stale>},
    {"misshapen", "that fit no model of the run", of<&LinkRow::counts, &LinkCounts::misshapen>},
    {"not_finite", "of `kept`: left out of the merge because a number was infinite or NaN",
     of<&LinkRow::screened, &Screened::not_finite>},
    {"beyond_norm", "of `kept`: left out because they were longer than `mailbox.norm_limit` allows",
     of<&LinkRow::screened, &Screened::beyond_norm>},
    {"unauthorised", "real time: models and acknowledgements that were not the sender's to send",
     of<&LinkRow::screened, &Screened::unauthorised>},
    {"unasked", "real time: requests that the protocol has no need of, or that came too soon after another",
     of<&LinkRow::screened, &Screened::unasked>},
    {"norm_mean", "with `mailbox.norm_limit`: mean norm of the messages; else nan",
     [](const LinkRow& row) { return number(row.screened.mean_norm()); }},
    {"cosine_mean", "likewise: mean cosine of a message and the receiver's own model",
     [](const LinkRow& row) { return number(row.screened.mean_cosine()); }},
    {"link_chance", "chance of the link to be up, with `protocol.link_chance`; else nan", of<&LinkRow::chance>},
};

}  // namespace

std::vector<ClientRow> client_rows(const RunResult& result) {
  std::vector<ClientRow> rows;
  for (std::uint32_t i = 0; i < result.by_client.size(); ++i)
    rows.push_back({i, i < result.samples_by_client.size() ? result.samples_by_client[i] : 0, result.by_client[i],
                    i < result.traffic_by_client.size() ? result.traffic_by_client[i] : Traffic{}, not_known, not_known,
                    i < result.paces.size() ? result.paces[i] : Pace{},
                    i < result.compute_chances.size() ? result.compute_chances[i] : not_known});
  const Sample last = result.samples.empty() ? Sample{} : result.samples.back();
  for (std::size_t i = 0; i < last.accuracies.size(); ++i) {
    ClientRow& row = rows[last.header.client(i).value];
    if (last.is_classified) row.accuracy = last.accuracies[i];
    row.loss = last.losses[i];
  }
  return rows;
}

LinkRow link_row(const RunResult& result, LinkIndex link) {
  const Edge ends = result.graph->ends_of(link);
  const auto is_on_link = [&](const Screened& one) { return one.sender == ends.source && one.receiver == ends.target; };
  const auto screened = std::ranges::find_if(result.screened, is_on_link);
  return {ends, result.by_link[link], screened == result.screened.end() ? Screened{} : *screened,
          link < result.link_chances.size() ? result.link_chances[link] : not_known};
}

std::span<const SampleColumn> sample_columns() { return samples; }
std::span<const ClientColumn> client_columns() { return clients; }
std::span<const Column<LinkRow>> link_columns() { return links; }

bool is_spent(const SampleColumn& column) {
  constexpr std::string_view counts[] = {"events",        "computations", "messages_sent", "messages_delivered",
                                         "messages_lost", "bytes_wire"};
  return column.curve.role == Role::axis || std::ranges::find(counts, column.name) != std::end(counts);
}

const SampleColumn* find_sample_column(std::string_view name) {
  const auto found = std::ranges::find(samples, name, &SampleColumn::name);
  return found == std::ranges::end(samples) ? nullptr : found;
}

const SampleColumn& curve_column(std::string_view name) {
  for (const SampleColumn& column : samples)
    if (column.curve.role != Role::none && column.curve.name == name) return column;
  throw std::out_of_range("no curve has " + std::string(name));
}

void add_scores(Sample& sample, std::span<const double> f1, const Score& of_mean) {
  sample.is_classified = of_mean.classes > 0;
  sample.accuracy_mean = mean(sample.accuracies);
  sample.accuracy_deviation = population_deviation(sample.accuracies);
  sample.accuracy_mean_model = of_mean.accuracy();
  const auto lowest = std::ranges::min_element(sample.accuracies);
  sample.accuracy_min = *lowest;
  sample.spread.reset();
  if (sample.is_classified) sample.spread = accuracy_spread_of(sample);
  if (sample.is_classified) sample.worst = sample.header.client(static_cast<std::size_t>(lowest - sample.accuracies.begin()));
  sample.f1_macro = mean(f1);
  sample.f1_macro_mean_model = of_mean.macro_f1();
  if (!sample.is_classified)
    sample.accuracy_min = sample.accuracy_mean = sample.accuracy_deviation = sample.accuracy_mean_model = sample.f1_macro =
        sample.f1_macro_mean_model = not_known;
  sample.loss_mean = mean(sample.losses);
  sample.loss_mean_model = of_mean.mean_loss();
}

}  // namespace rubato
