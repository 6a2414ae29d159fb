// The parts of this example: the resources, the index of books, and the admission plugin.
#pragma once

#include <backplane/controller.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>

using namespace backplane;

inline const GroupVersionResource kShelves{"library.example.com", "v1", "shelves"}, kBooks{"library.example.com", "v1", "books"};

// The index "shelf" of the informer of books, and a key of the controller's queue: "namespace/shelf". group.json declares one selectable
// field.
inline std::vector<std::string> shelf_of(const ObjectEntry& book) { return {object_key(book.ns(), book.fields().at(0))}; }

std::shared_ptr<AdmissionPlugin> keep_shelves(std::shared_ptr<SharedInformer> books);
