using System;

namespace Stations;

/// <summary>水泵</summary>
[Serializable]
public class Pump<T> : Machine
{
    public Pump(T name)
    {
        Name = name;
    }

    public T Name { get; set; }

    public int Level
    {
        get { return level; }
    }

    /// 停机
    [Obsolete]
    public void Stop()
    {
        Power = false;
    }
}

public record Valve(
    string Name,
    int State);
