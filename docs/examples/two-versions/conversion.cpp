#include "conversion.hpp"

#include <backplane/core/json_access.hpp>

#include <cctype>

namespace {

constexpr const char* kMeal = "tickets.example.com/meal";

}  // namespace

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

// Conversions leave the tree in the other version's form, in place.  Data without a field in v1 is stored in an annotation, so that a
// client that changes a ticket through v1 does not lose it.
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
