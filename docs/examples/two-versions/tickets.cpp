// Serves tickets.example.com with one kind in two versions: v2 is stored, v1 is another view of the same tickets.
#include <backplane/plugin.hpp>
#include <backplane/resource.hpp>

#include <array>
#include <cctype>

#include "tickets_group_json.hpp"
#include "tickets_v1_json.hpp"
#include "tickets_v2_json.hpp"

using namespace backplane;

namespace {

constexpr const char* kMeal = "tickets.example.com/meal";

// "12C": a row, and a letter in `letter`.  0: the text is no seat.
std::int64_t read_seat(std::string_view text, std::string& letter) {
  std::int64_t row = 0;
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) && row < 1000) {
    row = row * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  if (text.size() != 1 || std::isupper(static_cast<unsigned char>(text.front())) == 0) return 0;
  letter = text;
  return row;
}

// Conversions leave the tree in the other version's form, in place.  What v1 has no room for travels in an annotation, so that who changes
// a ticket through v1 does not lose it.
Status v1_to_v2(Object& ticket) {
  Object& spec = ensure_object(ticket, "spec");
  const std::string name(get_string(spec, "passenger")), seat(get_string(spec, "seat"));
  const auto space = name.find(' ');
  spec.clear();
  Object& passenger = ensure_object(spec, "passenger");
  passenger["first"] = name.substr(0, space);
  passenger["last"] = space == std::string::npos ? "" : name.substr(space + 1);
  std::string letter;
  if (const std::int64_t row = read_seat(seat, letter); row > 0) {
    ensure_object(spec, "seat")["row"] = row;
    ensure_object(spec, "seat")["letter"] = letter;
  }
  if (Object* metadata = mutable_object(ticket, "metadata")) {
    Object* annotations = mutable_object(*metadata, "annotations");
    if (annotations != nullptr && find(*annotations, kMeal) != nullptr) {
      spec["meal"] = *find(*annotations, kMeal);
      erase_member(*annotations, kMeal);
      if (annotations->empty()) erase_member(*metadata, "annotations");
    }
  }
  Object* status = mutable_object(ticket, "status");
  if (status != nullptr) (*status)["boarded"] = get_string(*status, "boarded") == "yes";
  return {};
}

Status v2_to_v1(Object& ticket) {
  Object& spec = ensure_object(ticket, "spec");
  const std::string first(get_string_path(spec, "passenger.first")), last(get_string_path(spec, "passenger.last"));
  const std::string seat = std::to_string(get_int_path(spec, "seat.row").value_or(0)) + std::string(get_string_path(spec, "seat.letter"));
  const std::string meal(get_string(spec, "meal"));
  const bool seated = get_object(spec, "seat") != nullptr;
  spec.clear();
  spec["passenger"] = last.empty() ? first : first + " " + last;
  if (seated) spec["seat"] = seat;
  if (!meal.empty()) ensure_object(ensure_object(ticket, "metadata"), "annotations")[kMeal] = meal;
  Object* status = mutable_object(ticket, "status");
  if (status != nullptr) (*status)["boarded"] = get_bool(*status, "boarded").value_or(false) ? "yes" : "no";
  return {};
}

// Rules of the stored form: they hold for tickets of every version.
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

// Rules of v1's own form: the stored one could not tell any more.
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
