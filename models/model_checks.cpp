#include "models/model_checks.h"

#include "models/sequence_loss.h"

namespace tapestry {

std::vector<NamedCheck> model_checks() {
  std::vector<NamedCheck> checks;
  for (const std::string& model : model_names()) {
    for (const bool reference : {false, true}) {
      const std::string name = model + (reference ? "/reference" : "");
      checks.push_back({name, [=] {
                          ParameterStore store(DType::f64, 3);
                          const auto built = make_model({model, 11, 13, 4, 5, 2, 0.3}, Scope(store, reference));
                          const Example first{{4, 5, 6, 4, 3}, {7, 8, 3}};
                          const Example second{{9, 3}, {10, 7, 12, 7, 3}};
                          const Example third{{10, 4, 8, 3}, {5, 3}};
                          const std::vector<const Example*> rows{&first, &second, &third};
                          const Batch batch = make_batch(rows);
                          const Pass pass{true, 5, 2, 1};
                          return gradcheck(name, store.parameters(),
                                           [&] { return std::vector{sequence_loss(*built, batch, pass).objective}; },
                                           {1e-5, 1, 8});
                        }});
    }
  }
  return checks;
}

}  // namespace tapestry
