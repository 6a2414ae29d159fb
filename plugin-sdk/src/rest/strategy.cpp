// Default implementations of Strategy.
#include "backplane/rest/strategy.hpp"

#include <utility>

namespace backplane BACKPLANE_API {

namespace {

KindFacts with_table(KindFacts facts) {
  if (facts.table != nullptr) return facts;
  if (facts.columns.empty()) {
    facts.table = std::shared_ptr<const TableConvertor>(std::shared_ptr<void>(), &default_table_convertor());
  } else {
    facts.table = std::make_shared<ColumnTable>(std::exchange(facts.columns, {}), facts.row_conditions);
  }
  return facts;
}

}  // namespace

Strategy::Strategy(KindFacts facts) : facts_(with_table(std::move(facts))) {}
Strategy::~Strategy() = default;
void Strategy::apply_defaults(Object&) const {}
void Strategy::prepare_for_create(RequestContext&, Object&) const {}
void Strategy::validate(RequestContext&, const Object&, FieldErrors&) const {}
void Strategy::prepare_for_update(RequestContext&, Object&, const Object&) const {}
void Strategy::validate_update(RequestContext&, const Object&, const Object&, FieldErrors&) const {}
std::vector<std::string> Strategy::warnings(const Object& object, const Object* old) const {
  return warnings_of(facts_.warnings, object, old);
}
void Strategy::canonicalize(Object&) const {}
bool Strategy::check_graceful_delete(RequestContext&, const Object&, DeleteOptions&) const { return false; }
Status Strategy::validate_delete(RequestContext&, const Object&) const { return {}; }
bool Strategy::held_by_other_finalizers(const Object&) const { return false; }
void Strategy::mark_deleting(Object&) const {}

}  // namespace BACKPLANE_API
