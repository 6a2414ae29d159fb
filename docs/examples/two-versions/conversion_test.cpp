// Converts tickets in both directions, without a server.
#include "conversion.hpp"

#include <iostream>

int failures = 0;

// Converts `ticket` and compares the result.
void expect(Status (*convert)(Object&), std::string_view ticket, std::string_view wanted) {
  Object object = json::parse(json::string_view(ticket.data(), ticket.size())).get_object();
  const Status status = convert(object);
  if (status.ok() && to_json(object) == wanted) return;
  std::cerr << ticket << " became " << to_json(object) << " instead of " << wanted << "\n";
  ++failures;
}

int main() {
  constexpr std::string_view kV1 = R"({"spec":{"passenger":"Ada Lovelace","seat":"12C"}})";
  constexpr std::string_view kV2 = R"({"spec":{"passenger":{"first":"Ada","last":"Lovelace"},"seat":{"row":12,"letter":"C"}}})";
  expect(v1_to_v2, kV1, kV2);
  expect(v2_to_v1, kV2, kV1);
  // v1 has no member for the meal.
  constexpr std::string_view kMeal = R"({"spec":{"passenger":"Ada"},"metadata":{"annotations":{"tickets.example.com/meal":"fish"}}})";
  expect(v2_to_v1, R"({"spec":{"passenger":{"first":"Ada","last":""},"meal":"fish"}})", kMeal);
  expect(v1_to_v2, kMeal, R"({"spec":{"passenger":{"first":"Ada","last":""},"meal":"fish"},"metadata":{}})");
  return failures == 0 ? 0 : 1;
}
