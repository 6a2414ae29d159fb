// What a kind does when its strategy says nothing.
#include "backplane/strategy.hpp"

namespace backplane BACKPLANE_API {

Strategy::Strategy(KindFacts facts) : facts_(std::move(facts)), table_(facts_.columns, facts_.row_conditions) {}
Strategy::~Strategy() = default;
const TableConvertor& Strategy::table_convertor() const { return facts_.columns.empty() ? default_table_convertor() : table_; }
void Strategy::apply_defaults(Object&) const {}
void Strategy::prepare_for_create(RequestContext&, Object&) const {}
void Strategy::validate(RequestContext&, const Object&, FieldErrors&) const {}
void Strategy::prepare_for_update(RequestContext&, Object&, const Object&) const {}
void Strategy::validate_update(RequestContext&, const Object&, const Object&, FieldErrors&) const {}
std::vector<std::string> Strategy::warnings(const Object&, const Object*) const { return {}; }
void Strategy::canonicalize(Object&) const {}
bool Strategy::check_graceful_delete(RequestContext&, const Object&, DeleteOptions&) const { return false; }
Status Strategy::validate_delete(RequestContext&, const Object&) const { return {}; }
bool Strategy::held_by_other_finalizers(const Object&) const { return false; }
void Strategy::mark_deleting(Object&) const {}

}  // namespace BACKPLANE_API
