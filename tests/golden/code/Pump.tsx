import React from 'react';

export interface Props {
  level: number;
  onStop?: () => void;
}

type Mode =
  | 'auto'
  | 'manual';

@Injectable()
export class Store {
  private levels: number[] = [];

  add(level: number): void {
    this.levels.push(level);
  }
}

export const Gauge = ({ level }: Props) => {
  const colour = level > 3 ? 'red' : 'green';
  return <div style={{ colour }}>水位 {level}</div>;
};
