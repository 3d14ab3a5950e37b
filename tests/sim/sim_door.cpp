#include "sim/sim_door.hpp"

namespace ksana::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Door::Door(World& world, store::Store& store, const DoorSettings& settings)
    : world_(world),
      settings_(settings),
      faults_(world.random().Next()),
      store_(store::MakeFaultyStore(store, faults_,
                                    [this](Duration delay) {
                                        world_.As(World::kNobody,
                                                  [&] { world_.RunUntil(world_.now() + delay); });
                                    })),
      ids_(world.store_clock(), world.random()),
      types_(*store_),
      type_service_(*store_, types_),
      tasks_(*store_, [this](const std::string& code) { return types_.Find(code); }, {}),
      runs_(*store_, ids_),
      agents_(*store_, {.follow_up = engine::MakeCallbackFollowUp(types_, settings.callbacks),
                        .observer = nullptr}),
      directory_(*store_, world.store_clock(), model::kDefaultWorkerSilence),
      presence_(world.store_clock()),
      workers_(*store_, directory_, presence_,
               {.follow_up = engine::MakeCallbackFollowUp(types_, settings.callbacks)}),
      subscription_(store_->changes().Subscribe(store::Topic::kDocuments,
                                                [this](store::Topics) { OnCommit(); })) {
    faults_.Randomly("", settings.faults);
    ReadTypesAfter({});
}

void Door::OnCommit() {
    if (!healed_ && world_.Chance(settings_.lost_wakeups)) return;
    ReadTypesAfter(world_.Between(milliseconds(1), milliseconds(50)));
}

// A read that is scheduled earlier stays.
void Door::ReadTypesAfter(Duration delay) {
    const TimePoint when = world_.now() + delay;
    if (read_at_ && *read_at_ <= when) return;
    read_at_ = when;
    world_.At(when, [this, turn = ++turn_] {
        if (turn == turn_) ReadTypes();
    });
}

void Door::ReadTypes() {
    read_at_.reset();
    bool read = false;
    const bool free = Use([&] { read = types_.Refresh().has_value(); });
    ReadTypesAfter(free && read ? settings_.reread : Duration(seconds(1)));
}

void Door::Heal() {
    healed_ = true;
    faults_.Clear();
    ReadTypesAfter({});
}

}  // namespace ksana::sim
