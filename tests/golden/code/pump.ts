export enum State {
  Open,
  Closed,
}

export abstract class Valve<T> {
  abstract open(): void;

  protected log(text: string): void {
    console.log(text);
  }
}

namespace legacy {
  export function open(valve: Valve<string>) {
    valve.open();
  }
}
