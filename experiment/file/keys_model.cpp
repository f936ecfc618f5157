// The keys of [model]. Those that only some models take are named in the catalogue of models.
#include "experiment/file/fields.hpp"
#include "learning/models/model_catalogue.hpp"

namespace rubato::config {

namespace {

constexpr const char* by_model = "name=";  // and those that name the key in their catalogue
constexpr const char* not_quadratic = "name!=quadratic";

bool takes(const KnownModel& model, std::string_view key) {
  const std::string keys = ", " + std::string(model.keys) + ',';
  return keys.find(", " + std::string(key) + ',') != keys.npos;
}

// "a|b" of the models that take the key; of all models for no key.
std::string models_that_take(std::string_view key) {
  std::string names;
  for (const KnownModel& model : known_models())
    if (key.empty() || takes(model, key)) names += (names.empty() ? "" : "|") + std::string(model.name);
  return names;
}

}  // namespace

void describe(Rows<Model>& rows) {
  rows.table = "model";
  rows.required("name", &Model::name, "the model").as(Type::choice).one_of(models_that_take("") + "|quadratic|least_squares");
  rows.only_with(by_model);
  rows.required("hidden", &Model::hidden, {1, 1e6}, "widths of the hidden layers");
  rows.required("layers", &Model::layers,
                "the layers one after the other, such as \"conv 16 5 pad 2\", \"relu\", \"maxpool 2\", \"dense 64\"");
  rows.required("module", &Model::module, "a PyTorch module, written by torch.jit.script(net).save(path)");
  rows.key("activation", &Model::activation, "what hidden layers end with");
  rows.key("normalisation", &Model::normalisation, "over groups of channels of one sample, or over the samples of a batch");
  rows.key("hinge", &Model::hinge, "the hinge loss or the sum of its squares");
  rows.key("dropout", &Model::dropout, chance_not_sure, "chance of a hidden number to be left out of a gradient");
  rows.key("label_smoothing", &Model::label_smoothing, chance_not_sure, "share of the truth that all classes have in common");
  rows.only_with(not_quadratic);
  rows.key("batch", &Model::batch, count_from_0, "rows of one mini-batch; 0: all");
  rows.key("client_batch", &Model::client_batch, {1, 1e9},
           "instead of batch: of each client, listed, or drawn once and rounded; none: batch of all")
      .as(Type::per_client);
  rows.key(
      "batches", &Model::batches,
      "drawn: each row of a batch anew, with replacement; epochs: all rows of a client once, in a new order, then again; the last "
      "batch of an epoch has what is left");
  rows.key("l2", &Model::l2, not_negative, "weight of 1/2 ||x||^2 in the loss");
  rows.key("weight_decay", &Model::weight_decay, not_negative, "times x: added to every gradient, not to the loss");
  rows.key("clip", &Model::clip, not_negative, "longest gradient; longer ones are shortened before weight_decay; 0: any");
  rows.key("init", &Model::init,
           "zero, he (weights are normal with variance 2 / inputs), xavier (2 / (inputs + outputs)), or what suits the model");
  rows.for_all();
  rows.key("init_from", &Model::init_from,
           "instead: a .npy file with the model's numbers in one row, or in a row for each client where starts = \"each\"");
  rows.key(
      "starts", &Model::starts,
      "one: all clients begin with one model; each: each with one that is drawn for it, or its row of init_from; centre: each in "
      "the centre c_i of its loss, with data.name = \"quadratic\"");
  for (Field<Model>& row : rows.all)
    if (row.when == by_model) row.when += models_that_take(row.name);
  std::erase_if(rows.all, [](const Field<Model>& row) { return row.when == by_model; });  // no model takes it
}

}  // namespace rubato::config
