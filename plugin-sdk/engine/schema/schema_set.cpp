// SchemaSet: documents in, types out.
#include "schema/indexer.hpp"
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {
namespace {

using schema::Indexer;

Result<std::unique_ptr<SchemaSet::State>> index(std::span<const std::string_view> documents,
                                                const std::vector<std::shared_ptr<const SchemaSet>>& imports, bool copy) {
  auto state = std::make_unique<SchemaSet::State>();
  state->imports = imports;
  Indexer indexer(*state);
  std::size_t number = 0;
  for (std::string_view document : documents) {
    if (copy) document = state->texts.emplace_back(document);
    if (Status status = indexer.add(document, ++number); !status.ok()) return status;
  }
  return state;
}

// Compiles all definitions to find the first malformed one.
Status check_all(const SchemaSet::State& state) {
  for (const schema::Type* type : state.order) {
    if (const std::string& error = type->body().error; !error.empty()) return bad_request("schema: " + error);
  }
  return {};
}

std::vector<std::shared_ptr<const SchemaSet>> with_meta(std::vector<std::shared_ptr<const SchemaSet>> imports) {
  imports.push_back(meta_schemas());
  return imports;
}

}  // namespace

SchemaSet::SchemaSet(std::unique_ptr<State> state) : state_(std::move(state)) {}
SchemaSet::~SchemaSet() = default;

Result<std::shared_ptr<const SchemaSet>> SchemaSet::compile(std::span<const std::string_view> documents,
                                                            std::vector<std::shared_ptr<const SchemaSet>> imports) {
  imports = with_meta(std::move(imports));
  {
    // The compiled schema of the check is dropped: an idle custom type keeps its text only.
    auto trial = index(documents, imports, false);
    if (!trial.ok()) return std::move(trial.status());
    if (Status status = check_all(**trial); !status.ok()) return status;
  }
  auto state = index(documents, imports, true);
  if (!state.ok()) return std::move(state.status());
  return std::make_shared<const SchemaSet>(std::move(*state));
}

Result<std::shared_ptr<const SchemaSet>> SchemaSet::embedded(std::span<const std::string_view> documents,
                                                             std::vector<std::shared_ptr<const SchemaSet>> imports) {
  auto state = index(documents, with_meta(std::move(imports)), false);
  if (!state.ok()) return std::move(state.status());
  return std::make_shared<const SchemaSet>(std::move(*state));
}

Status SchemaSet::check() const { return check_all(*state_); }

const Schema* SchemaSet::find(std::string_view definition) const noexcept { return state_->find_type(definition); }

const Schema* SchemaSet::find(const GroupVersionKind& gvk) const noexcept {
  const auto found = state_->by_kind.find(gvk);
  if (found != state_->by_kind.end()) return found->second;
  for (const auto& import : state_->imports) {
    if (const Schema* schema = import->find(gvk)) return schema;
  }
  return nullptr;
}

}  // namespace BACKPLANE_API
