// Serves tickets.example.com with one kind in two versions: v2 is stored, v1 is another view of the same tickets.
#include <backplane/plugin.hpp>
#include <backplane/resource.hpp>

#include "conversion.hpp"
#include "tickets_group_json.hpp"
#include "tickets_v1_json.hpp"
#include "tickets_v2_json.hpp"

using namespace backplane;

namespace {

// Rules of the stored version, which apply to tickets of every version.
class TicketStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void validate(RequestContext&, const Object& ticket, FieldErrors& errors) const override {
    if (get_string_path(ticket, "spec.passenger.first").empty()) errors.required("spec.passenger.first");
    if (get_int_path(ticket, "spec.seat.row").value_or(1) > 40) errors.forbidden("spec.seat.row", "there are 40 rows");
  }
  void validate_update(RequestContext& context, const Object& ticket, const Object&, FieldErrors& errors) const override {
    validate(context, ticket, errors);
  }
};

// Rules of v1 that cannot be checked on the stored version any more.
class TicketV1Strategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void apply_defaults(Object& ticket) const override { fill(ensure_object(ticket, "spec"), "seat", "1A"); }
  void validate(RequestContext&, const Object& ticket, FieldErrors& errors) const override {
    const std::string_view seat = get_string_path(ticket, "spec.seat");
    std::string letter;
    if (read_seat(seat, letter) == 0) errors.invalid("spec.seat", seat, "must be a row and a letter, as in 12C");
  }
  void validate_update(RequestContext& context, const Object& ticket, const Object&, FieldErrors& errors) const override {
    validate(context, ticket, errors);
  }
};

Result<std::shared_ptr<const SchemaSet>> schemas_of(std::string_view document) {
  return SchemaSet::compile({&document, 1}, {meta_schemas()});
}

class TwoVersions final : public Plugin {
  Status provision(Host& host) override {
    auto v1 = schemas_of(tickets_v1_json());
    if (!v1.ok()) return std::move(v1).status();
    auto v2 = schemas_of(tickets_v2_json());
    if (!v2.ok()) return std::move(v2).status();

    const GroupVersionKind stored{"tickets.example.com", "v2", "Ticket"}, served{"tickets.example.com", "v1", "Ticket"};
    Scheme& scheme = host.scheme();
    if (Status status = scheme.add_conversion(served, stored, v1_to_v2); !status.ok()) return status;
    if (Status status = scheme.add_conversion(stored, served, v2_to_v1); !status.ok()) return status;

    kit::GroupCode code;
    code.kinds["Ticket"] = {.make = kit::made<TicketStrategy>(), .views = {{"v1", kit::made<TicketV1Strategy>()}}};
    return kit::install_group(host, "example.com/two-versions", kit::read_group(tickets_group_json(), code), std::vector{*v2, *v1});
  }
};

}  // namespace

BACKPLANE_PLUGIN(TwoVersions)
