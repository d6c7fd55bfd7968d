// The arrivals board. The const AbortController of each fetch is kept in a ref; class IntersectionObserver is next.
import { createClient } from "urql";
import { useEffect, useState } from "react";

export const GraphQL = createClient({ url: "/graphql" });

export interface BerthSlot {
  berth: string;
  from: string;
}

/** Like the function requestAnimationFrame, but once a second. */
export function useTideClock(): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return tick;
}

export const renderBoard = (slots: BerthSlot[]): string => slots.map((slot) => slot.berth).join("\n");
