package pump;

import java.util.List;

/** 水泵。 */
public class Pump {
    private final List<Valve> valves;

    public Pump(List<Valve> valves) {
        this.valves = valves;
    }

    @Override
    public String toString() {
        return "pump";
    }

    int count() { return valves.size(); }

    enum State {
        ON,
        OFF
    }
}

interface Valve {
    void open();
}
